"""Scenarios as data: a server, its tables, a load, and what is wrong (or that nothing is). One YAML file each, read strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.advice.damage import SCHEMA as DAMAGE
from benchmarks.advice.damage import Damage, as_damage
from benchmarks.advice.loads import LOADS, Load
from benchmarks.advice.made_tables import MadeTable
from myisam_advisor.texts.yaml_files import YamlFile, fault_at, first_fault, read_yaml
from tools.fetched_servers import FETCHED_SERVERS

FOLDER = Path(__file__).with_name("scenarios")
FAULT, HEALTHY, LOOK_ALIKE = KINDS = ("fault", "healthy", "look_alike")
GROUPS = (
    "bulk load", "concurrent inserts", "crashed table", "delayed keys", "disk", "engines", "holes", "idle", "indexes", "key cache", "locks", "memory",
    "mmap", "open files", "page cache", "query cache", "read buffers", "repair", "row format", "small machine", "sort buffers", "table cache",
    "temporary tables", "threads",
)  # fmt: skip
_WORDS = {"type": "array", "items": {"type": "string", "minLength": 1}}
_TEXT = {"type": "string", "minLength": 10}
_VALUE = {"type": ["string", "integer"]}
_SIZE = {"type": ["string", "integer"], "pattern": "^[0-9]+[KMG]?$"}
_TABLE = {
    "type": "object", "additionalProperties": False, "required": ["name", "rows", "columns"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z_0-9]+$"}, "rows": {"type": "integer", "minimum": 0, "maximum": 5_000_000},
        "copies": {"type": "integer", "minimum": 1, "maximum": 5000}, "columns": {"type": "object", "additionalProperties": {"type": "string"}},
        "keys": _WORDS, "options": {"type": "string"}, "values": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}  # fmt: skip
_SEARCHED = {
    "oneOf": [
        {"type": "object", "additionalProperties": False, "required": ["from", "to"], "properties": {"from": _SIZE, "to": _SIZE}},
        {"type": "array", "items": _VALUE, "minItems": 2},
    ]
}  # fmt: skip
SCHEMA: dict[str, Any] = {
    "type": "object", "additionalProperties": False, "required": ["group", "load"],
    "properties": {
        "group": {"enum": list(GROUPS)}, **dict.fromkeys(KINDS, _TEXT),
        "named_by": {
            "type": "object", "additionalProperties": False, "properties": {"rules": _WORDS, "variables": _WORDS, "words": _WORDS, "statements": _WORDS},
        },
        "servers": {"type": "array", "items": {"enum": list(FETCHED_SERVERS)}, "minItems": 1},
        "options": {"type": "object", "additionalProperties": _VALUE},
        "tables": {"type": "array", "items": _TABLE}, "statements": _WORDS, "before_each": _WORDS, "evict": {"type": "boolean"},
        "load": {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": False, "properties": {name: kind.schema for name, kind in LOADS.items()}},
        "beside": {
            "type": "object", "additionalProperties": False, "required": ["statement", "per_second"],
            "properties": {"statement": {"type": "string"}, "per_second": {"type": "number", "exclusiveMinimum": 0}},
        },
        "idle_when_asked": {"type": "boolean"}, "reads_per_second": {"type": "integer", "minimum": 10}, "memory": _SIZE,
        "search": {"type": "object", "additionalProperties": _SEARCHED}, "short": {"type": "boolean"}, "killed": {"type": "boolean"},
        "open_files": {"type": "integer", "minimum": 100}, "damage": {"type": "object", "minProperties": 1, "additionalProperties": DAMAGE},
    },
}  # fmt: skip
DICTIONARY_IN_INNODB = ("mysql-8", "mysql-9")
MARIADB_ALONE = frozenset({"key_cache_segments"})
_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class NamedBy:
    """What counts as naming the fault, the same for every adviser: a rule, a change of a variable or by a statement, or words in what it says."""

    rules: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Beside:
    """A statement that runs beside the load, so many a second, one after another."""

    statement: str
    per_second: float


@dataclass(frozen=True, slots=True)
class Scenario:
    """One server under one load. `kind` is one of KINDS, `what` says what is wrong, or why nothing is."""

    name: str
    group: str
    kind: str
    what: str
    load: Load
    named_by: NamedBy = NamedBy()
    servers: tuple[str, ...] = FETCHED_SERVERS
    options: tuple[str, ...] = ()
    tables: tuple[MadeTable, ...] = ()
    statements: tuple[str, ...] = ()
    before_each: tuple[str, ...] = ()
    evict: bool = False
    beside: Beside | None = None
    idle_when_asked: bool = False
    reads_per_second: int | None = None
    memory_bytes: int | None = None
    search: Mapping[str, tuple[str, ...]] | None = None
    short: bool = False
    killed: bool = False
    open_files: int | None = None
    damage: Mapping[str, Damage] = field(default_factory=dict)
    """By the rules of ours that warn of it."""

    def search_on(self, flavour: str) -> Mapping[str, tuple[str, ...]] | None:
        """Those variables of the search that MariaDB or MySQL has; None where there are none."""
        is_own = flavour == "mariadb"
        return {
            name: values for name, values in (self.search or {}).items() if is_own or name not in MARIADB_ALONE
        } or None

    def uses_innodb_on(self, server: str) -> bool:
        """Whether InnoDB has anything to do: tables of its own, or on MySQL from 8.0 the dictionary and temporary tables that the server keeps in it."""
        beside = (self.beside.statement,) if self.beside else ()
        told = [
            repr(self.load),
            *(table.options for table in self.tables),
            *self.statements,
            *self.before_each,
            *beside,
        ]
        return server.startswith(DICTIONARY_IN_INNODB) or any("innodb" in text.lower() for text in told)

    @property
    def needs(self) -> tuple[str, ...]:
        """What the machine must have for it, beside a server: programs, and control groups that hold a server back."""
        limits = (("control group blkio", self.reads_per_second), ("control group memory", self.memory_bytes))
        return tuple(self.load.programs) + tuple(name for name, wanted in limits if wanted)

    @property
    def may_be_short(self) -> bool:
        """Whether many short runs say the same as few long ones: not where each begins with work, something beats beside it, or the program's clock is coarse."""
        begins = self.before_each or self.evict or "mysqlslap" in self.load.programs
        return not (begins or self.beside or self.reads_per_second or self.memory_bytes)


def read_scenario(path: Path) -> Scenario:
    """The scenario of a file. Raises UserError that names file, line and fault."""
    file = read_yaml(path, "scenario")
    fault = first_fault(file.document, SCHEMA)
    if fault:
        raise fault_at(file, *fault)
    return _scenario(file)


def all_scenarios() -> list[Scenario]:
    """All of them, by name."""
    return [read_scenario(path) for path in sorted(FOLDER.glob("*.yaml"))]


def _scenario(file: YamlFile) -> Scenario:
    document: Mapping[str, Any] = file.document
    kinds = [kind for kind in KINDS if kind in document]
    if len(kinds) != 1:
        raise fault_at(file, (), f"exactly one of {', '.join(KINDS)} is wanted")
    named_by = NamedBy(**{name: tuple(words) for name, words in document.get("named_by", {}).items()})
    if kinds == [FAULT] and named_by == NamedBy():
        raise fault_at(file, (), "named_by is wanted: how one tells that the fault was named")
    ((load_name, load),) = document["load"].items()
    held_back = [name for name in ("memory", "reads_per_second", "open_files") if name in document]
    if held_back and any(one.get("killed") for one in document.get("damage", {}).values()):
        raise fault_at(file, ("damage",), f"a server that is killed comes back without {held_back[0]}")
    beside = document.get("beside")
    memory = document.get("memory")
    return Scenario(
        name=file.path.stem,
        group=document["group"],
        kind=kinds[0],
        what=document[kinds[0]],
        load=LOADS[load_name](**load),
        named_by=named_by,
        servers=tuple(document.get("servers", FETCHED_SERVERS)),
        options=tuple(f"--{name.replace('_', '-')}={value}" for name, value in document.get("options", {}).items()),
        tables=tuple(MadeTable(**table) for table in document.get("tables", ())),
        statements=tuple(document.get("statements", ())),
        before_each=tuple(document.get("before_each", ())),
        evict=document.get("evict", False),
        beside=Beside(beside["statement"], float(beside["per_second"])) if beside else None,
        idle_when_asked=document.get("idle_when_asked", False),
        reads_per_second=document.get("reads_per_second"),
        memory_bytes=None if memory is None else bytes_of(str(memory)),
        search={name: _searched(values) for name, values in document.get("search", {}).items()} or None,
        short=document.get("short", False),
        killed=document.get("killed", False),
        open_files=document.get("open_files"),
        damage={rule: as_damage(one) for rule, one in document.get("damage", {}).items()},
    )


def bytes_of(text: str) -> int:
    """A size as option files have it."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text)
    if found is None:
        raise ValueError(text)
    return int(found[1]) * _FACTORS[found[2]]


def _searched(values: Mapping[str, Any] | Sequence[object]) -> tuple[str, ...]:
    """The values that a search may choose from: those that are listed, or the doublings of a range."""
    if not isinstance(values, Mapping):
        return tuple(str(value) for value in values)
    low, high = bytes_of(str(values["from"])), bytes_of(str(values["to"]))
    found = [low]
    while found[-1] * 2 <= high:
        found.append(found[-1] * 2)
    return tuple(str(value) for value in found)

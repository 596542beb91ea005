"""Copies of tables under a newer version: placed, checked, read and written there. Never as root: see upgrade_task.py.

MariaDB and MySQL 5.x open whatever .frm, .MYD and .MYI lie in a database's directory. MySQL 8.0 and later take a .sdi of their own release by
IMPORT TABLE; another's is refused with error 3612, and a .frm is not read at all: there a table is made by its definition, and its files are put in the place
of the empty ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import DICTIONARY_SINCE, ServerBinaries
from myisam_advisor.trial.private.machine import SERVER_DISK_BYTES, expect_room, machine_name
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.private.unprivileged import expect_not_root
from myisam_advisor.trial.replay import sender_program
from myisam_advisor.trial.statements.stages import RefusedError, make_account
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.tables.table_lock import Lock
from myisam_advisor.trial.trial import TrialMaterial, as_trial_errors, private_server
from myisam_advisor.trial.upgrade.both_versions import NoTableError, Versions, both_servers
from myisam_advisor.trial.upgrade.one_table import TableDefinition, TableTrial, told_words, tried_definition
from myisam_advisor.trial.upgrade.recorded_result import RecordedUpgrade
from myisam_advisor.trial.upgrade.recorded_statements import RecordedMaterial, RecordedOnBoth
from myisam_advisor.trial.upgrade.upgrade_result import (
    BY_DEFINITION,
    BY_FILES,
    BY_IMPORT,
    REFUSED,
    NotTried,
    UpgradedTable,
    UpgradeResult,
)
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.server.sql import quote_text, statement
from myisam_exporter.server.version_number import PRODUCT_NAMES

MARIADB, MYSQL = "mariadb", "mysql"
MEMORY_BYTES, DISK_BYTES = 512 << 20, 512 << 20
COPIES = 3  # the copy, what a rebuild makes of it, and the files that are put under a definition
COPIES_OF_BOTH = (
    6  # for recorded statements: on each server the copy, what a rebuild makes of it, and what runs begin from
)
STEP_BY_STEP = (
    "MySQL upgrades a data directory only from 5.7 to 8.0, from 8.0 to 8.4 and from 8.4 to 9, step by step. Here each table was created "
    "from its definition and its files were put in place: this covers your tables, not the server's own tables, its accounts or its settings."
)


@dataclass(frozen=True, slots=True)
class UpgradeMaterial:
    """What is upgraded: to which program, from which server (`data_version`: flavour, major, minor), which tables.

    `definitions` are what SHOW CREATE TABLE said of tables with a .frm, `uncopied` what there is no copy of, and why, `uncopied_bytes` what
    the files of these hold, where that is known. `recorded` are statements to send to both versions; `present` is the program of the present one, `variables`
    are the watched server's settings that matter to them.
    """

    binaries: ServerBinaries
    data_version: tuple[str, int, int]
    sql_mode: str
    sources: Sequence[Source]
    definitions: Mapping[TableName, str]
    uncopied: Mapping[TableName, str]
    uncopied_bytes: Mapping[TableName, int]
    lock: Lock | None = field(default=None, repr=False)
    recorded: RecordedMaterial | None = field(default=None, repr=False)
    present: ServerBinaries | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


def run_upgrade(material: UpgradeMaterial, listener: Listener) -> UpgradeResult:
    """Try it. Raises TrialError where there is no such upgrade, and for whatever stops it; nothing is left behind."""
    expect_not_root()
    binaries, present = material.binaries, _label(material.data_version)
    expect_upgrade(binaries, material.data_version)
    if material.recorded is not None:
        sender_program()
    with ReapedDirectory() as directory:
        copied = sum(source.counted_bytes for source in material.sources)
        needed = COPIES * copied
        if material.recorded is not None:
            needed += COPIES_OF_BOTH * copied + 2 * SERVER_DISK_BYTES
        expect_room(directory.path, DISK_BYTES + needed, MEMORY_BYTES)
        listener.doing("starting a private server of the newer version")
        on_server = TrialMaterial(binaries, (), material.sources, material.lock)
        with private_server(on_server, directory.path, ()) as server:
            mode, notes = _modes(server, material.sql_mode)
            tables, not_tried = _tables(server, material, mode, listener)
            if any(table.way == BY_DEFINITION for table in tables):
                notes.append(STEP_BY_STEP)
            version = str(server.execute("SELECT @@version")[0][0])
        name = PRODUCT_NAMES[binaries.flavour]
        try:
            recorded = _recorded(material, tables, mode, directory.path, listener)
        except NoTableError as error:
            recorded = None
            notes.append(f"The recorded statements were not sent, as no table is opened by both versions: {error}.")
    return UpgradeResult(
        present, name, version, tuple(tables), tuple(not_tried), tuple(notes), machine_name(), recorded
    )


def _recorded(
    material: UpgradeMaterial, tables: Sequence[UpgradedTable], mode: str, folder: Path, listener: Listener
) -> RecordedUpgrade | None:
    """The recorded statements, where there are any, on the tables that the newer version opened, copied anew: those of before were written.

    Raises NoTableError where there is no such table.
    """
    opened = {(one.schema_name, one.table_name): one for one in tables if one.verdict != REFUSED}
    sources = [source for source in material.sources if (source.schema, source.table) in opened]
    if material.recorded is None or material.present is None:
        return None
    if not sources:
        raise NoTableError("the newer one refuses all of them")

    def place(server: PrivateServer, source: Source) -> UpgradedTable:
        table = source.schema, source.table
        way, definition = opened[table].way, material.definitions.get(table, "")
        return TableTrial(server, source, way, definition, mode, None, listener).opened()

    refused = {
        (
            one.schema_name,
            one.table_name,
        ): f"{object_name(one.schema_name, one.table_name)} is refused by the newer version"
        for one in tables
        if one.verdict == REFUSED
    }
    name = _label((material.binaries.flavour, *material.binaries.version))
    versions = Versions(material.present, material.binaries, material.variables, mode)
    try:
        with as_trial_errors(), both_servers(versions, sources, place, material.lock, folder, listener) as both:
            missing = {**material.uncopied, **refused, **both.missing}
            sent = RecordedOnBoth(replace(both, missing=missing), material.recorded, name, mode, folder, listener)
            return sent.result()
    except RefusedError as error:
        raise TrialError(f"the recorded statements cannot be sent to both versions: {error}.") from None


def expect_upgrade(binaries: ServerBinaries, data_version: tuple[str, int, int]) -> None:
    """Raises TrialError where that program is no newer version of the server whose files these are."""
    flavour, version = data_version[0], data_version[1:]
    new, present = f"{binaries.mysqld} is {_label((binaries.flavour, *binaries.version))}", _label(data_version)
    if flavour == binaries.flavour and binaries.version < version:
        raise TrialError(
            f"{new}, and the tables are of {present}: a server does not read what a later one wrote. "
            f"--server takes the program of {present} or later."
        )
    if flavour == MARIADB and binaries.flavour == MYSQL:
        raise TrialError(
            f"{new}, and the tables are of {present}: MySQL reads no definitions of MariaDB. "
            "Load a dump into it (mariadb-dump), or name a later MariaDB (--server /usr/sbin/mariadbd)."
        )
    if flavour == MYSQL and binaries.flavour == MARIADB and version >= DICTIONARY_SINCE:
        raise TrialError(
            f"{new}, and the tables are of {present}: MariaDB reads no .sdi, which is where MySQL 8.0 and later keep definitions. "
            "Load a dump into it (mysqldump), or name a later MySQL (--server /usr/sbin/mysqld)."
        )


def _label(version: tuple[str, int, int]) -> str:
    flavour, major, minor = version
    return f"{PRODUCT_NAMES[flavour]} {major}.{minor}"


def _modes(server: PrivateServer, sql_mode: str) -> tuple[str, list[str]]:
    """What of the present sql_mode the newer server takes, and what it says of the rest."""
    taken, notes = list[str](), list[str]()
    for word in filter(None, sql_mode.split(",")):
        problem = told_words(server, statement("SET SESSION sql_mode = {}", quote_text(word)))
        if problem is None:
            taken.append(word)
        else:
            code, words = problem
            notes.append(
                f"sql_mode {word} is refused (error {code}: {words}): take it out of the option files before the upgrade."
            )
    return ",".join(taken), notes


def _tables(
    server: PrivateServer, material: UpgradeMaterial, mode: str, listener: Listener
) -> tuple[list[UpgradedTable], list[NotTried]]:
    dictionary = material.binaries.keeps_dictionary
    names = {source.schema for source in material.sources} | {schema for schema, _ in material.uncopied}
    if dictionary:
        make_account(server, sorted(names))
    tables, not_tried = list[UpgradedTable](), list[NotTried]()
    for source in material.sources:
        listener.doing(f"trying {source.label}")
        definition = material.definitions.get((source.schema, source.table))
        has_sdi = any(file.name.endswith(".sdi") for file in source.files)
        if dictionary and not has_sdi and definition is None:
            not_tried.append(
                NotTried(
                    source.label,
                    "its definition could not be had of the server (SHOW CREATE TABLE)",
                    source.counted_bytes,
                )
            )
            continue
        way = BY_FILES if not dictionary else BY_IMPORT if has_sdi else BY_DEFINITION
        trial = TableTrial(server, source, way, definition or "", mode, material.lock, listener)
        tables.append(trial.run())
    for (schema, table), why in material.uncopied.items():
        text = material.definitions.get((schema, table))
        tried = tried_definition(server, TableDefinition(schema, table, text)) if dictionary and text else None
        if tried is not None:
            tables.append(replace(tried, steps=()))
        else:
            not_tried.append(NotTried(f"{schema}.{table}", why, material.uncopied_bytes.get((schema, table))))
    return tables, not_tried

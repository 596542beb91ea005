"""What the project's modules use of Python 3.7 to 3.10, for Python 3.6: as much of it as they use, on every Python the same.

Sources: Lib/dataclasses.py, Lib/graphlib.py, Lib/contextvars.py of Python 3.10, and their manual.
"""

from __future__ import annotations

import ctypes
import errno
import operator
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

CLOCK_BOOTTIME = 7  # clock_gettime(2), linux/time.h; time.CLOCK_BOOTTIME since 3.7
# memfd_create(2) by system call: os.memfd_create since 3.8.
MEMFD_CREATE = {"x86_64": 319, "aarch64": 279, "ppc64le": 360, "s390x": 350, "i686": 356}
UPTIME = "/proc/uptime"
_MISSING = object()


def zip_strictly(*given: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """zip(strict=True): ValueError where one ends before the others."""
    iterators = [iter(one) for one in given]
    while iterators:
        values = [next(iterator, _MISSING) for iterator in iterators]
        missing = sum(value is _MISSING for value in values)
        if missing == len(values):
            return
        if missing:
            raise ValueError("zip(): the arguments have different lengths")
        yield tuple(values)


def either(left: Any, right: Any) -> Any:
    """LEFT | RIGHT, of dictionaries too."""
    if isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    return operator.or_(left, right)  # not |, which the lowering would make a call of this


def taken_in(target: Any, others: Any) -> Any:
    """What TARGET is after TARGET |= OTHERS, of dictionaries too."""
    if isinstance(target, dict):
        target.update(others)
        return target
    return operator.ior(target, others)  # type: ignore[no-untyped-call]  # typeshed has no types of it


def without_prefix(text: str, prefix: str) -> str:
    """str.removeprefix."""
    return text[len(prefix) :] if text.startswith(prefix) else text


def without_suffix(text: str, suffix: str) -> str:
    """str.removesuffix."""
    return text[: len(text) - len(suffix)] if suffix and text.endswith(suffix) else text


def is_ascii(text: str) -> bool:
    """str.isascii."""
    try:
        text.encode("ascii")
    except UnicodeEncodeError:
        return False
    return True


def memory_file(name: str) -> int:
    """os.memfd_create; where the kernel has none (before 3.17) the null device, of which it can say as little about pages."""
    number = MEMFD_CREATE.get(platform.machine())
    if number is not None:
        call = ctypes.CDLL(None, use_errno=True).syscall
        call.restype = ctypes.c_long
        descriptor = call(ctypes.c_long(number), name.encode(), ctypes.c_uint(1))
        if descriptor >= 0:
            return int(descriptor)
    return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


def clock_gettime(clock: int) -> float:
    """time.clock_gettime; before Linux 2.6.39 (CentOS 6) /proc/uptime tells the time since boot, and no clock."""
    try:
        return time.clock_gettime(clock)
    except OSError:
        if clock != CLOCK_BOOTTIME:
            raise
    with open(UPTIME, encoding="ascii") as file:
        return float(file.read(100).split()[0])


def space_of_descriptor(descriptor: int) -> os.statvfs_result:
    """os.fstatvfs; before Linux 3.12 (CentOS 7) a descriptor that only says where something lies (O_PATH) is none for it: open(2)."""
    try:
        return os.fstatvfs(descriptor)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
    return os.statvfs(f"/proc/self/fd/{descriptor}")


def libc_version() -> tuple[str, str]:
    """platform.libc_ver: before 3.8 it tells the oldest library that Python would run with, not the one that is there."""
    try:
        name, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").split(maxsplit=1)
    except (OSError, ValueError):  # another library
        return "", ""
    return name, version


class ContextVar:
    """A value of each thread: what contextvars has without tasks."""

    def __init__(self, name: str, default: Any) -> None:
        self.name = name
        self._default = default
        self._values = threading.local()

    def get(self) -> Any:
        """Its value in this thread."""
        return getattr(self._values, "value", self._default)

    def set(self, value: Any) -> Any:
        """Another value; what it was is told, for `reset`."""
        before = self.get()
        self._values.value = value
        return before

    def reset(self, before: Any) -> None:
        """What it was."""
        self._values.value = before


class TopologicalSorter:
    """graphlib.TopologicalSorter, as far as its `static_order`: each behind those that it needs, else in the order given."""

    def __init__(self, graph: Mapping[str, Iterable[str]]) -> None:
        self._needs: dict[str, int] = {}
        self._successors: dict[str, list[str]] = {}
        for node, needed in graph.items():
            self._add(node)
            for one in needed:
                self._add(one)
                self._needs[node] += 1
                self._successors[one].append(node)

    def _add(self, node: str) -> None:
        self._needs.setdefault(node, 0)
        self._successors.setdefault(node, [])

    def static_order(self) -> Iterator[str]:
        """All of them. Raises ValueError for a circle."""
        waiting = dict(self._needs)
        ready = [node for node, count in waiting.items() if not count]
        done = 0
        while ready:
            following = []
            for node in ready:
                yield node
            for node in ready:
                done += 1
                for successor in self._successors[node]:
                    waiting[successor] -= 1
                    if not waiting[successor]:
                        following.append(successor)
            ready = following
        if done < len(waiting):
            raise ValueError("the graph has a circle")


class Field:
    """What `field` says of one."""

    def __init__(self, default: Any, default_factory: Any, init: bool, repr: bool, compare: bool) -> None:
        self.name = ""
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.compare = init, repr, compare

    @property
    def is_optional(self) -> bool:
        """Whether it has a value where none is given."""
        return self.default is not _MISSING or self.default_factory is not _MISSING


def field(
    *,
    default: Any = _MISSING,
    default_factory: Any = _MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
) -> Any:
    """dataclasses.field."""
    return Field(default, default_factory, init, repr, compare)


def fields(owner: Any) -> tuple[Field, ...]:
    """dataclasses.fields."""
    found: tuple[Field, ...] = owner.__dataclass_fields__
    return found


def replace(one: Any, **changes: Any) -> Any:
    """dataclasses.replace: fields that cannot be given are made anew."""
    values = {field.name: getattr(one, field.name) for field in fields(one) if field.init}
    values.update(changes)
    return type(one)(**values)


def dataclass(owner: Any = None, *, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
    """dataclasses.dataclass; `slots` is taken and does nothing."""

    def made(kind: Any) -> Any:
        own = [_declared(kind, name) for name in _annotated(kind)]
        inherited = [one for base in kind.__mro__[-1:0:-1] for one in getattr(base, "__dataclass_fields__", ())]
        kind.__dataclass_fields__ = tuple({one.name: one for one in [*inherited, *own]}.values())
        kind.__init__ = _constructor(kind, frozen)
        if "__repr__" not in kind.__dict__:
            kind.__repr__ = _representation
        if eq:
            kind.__eq__ = _equality
            kind.__hash__ = _hash if frozen else None
        if frozen:
            kind.__setattr__ = kind.__delattr__ = _refused
        return kind

    return made if owner is None else made(owner)


def _annotated(kind: Any) -> Iterable[str]:
    """The names that the class itself annotates: up to Python 3.9 the attribute may be a base's, from 3.14 on it alone has them."""
    if sys.version_info >= (3, 14):
        return list(kind.__annotations__)
    return list(vars(kind).get("__annotations__", {}))


def _declared(kind: type, name: str) -> Field:
    given = kind.__dict__.get(name, _MISSING)
    if isinstance(given, Field):
        found = given
        if found.default is _MISSING:
            delattr(kind, name)
        else:
            setattr(kind, name, found.default)
    else:
        found = Field(given, _MISSING, init=True, repr=True, compare=True)
    found.name = name
    return found


def _constructor(kind: Any, frozen: bool) -> Callable[..., None]:
    """`__init__` as its source, as dataclasses and namedtuple make theirs: it is called for each of a hundred thousand tables."""
    known: dict[str, Any] = {"_missing": _MISSING, "_set": object.__setattr__}
    parameters, lines = ["self"], []
    for number, one in enumerate(fields(kind)):
        known[f"_default{number}"] = one.default
        known[f"_factory{number}"] = one.default_factory
        value = one.name
        if one.default_factory is not _MISSING:
            made = f"_factory{number}()"
            value = f"{made} if {one.name} is _missing else {one.name}" if one.init else made
        elif not one.init:
            value = f"_default{number}"
        if one.init:
            default = "_missing" if one.default_factory is not _MISSING else f"_default{number}"
            parameters.append(f"{one.name}={default}" if one.is_optional else one.name)
        lines.append(f'_set(self, "{one.name}", {value})' if frozen else f"self.{one.name} = {value}")
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    text = "def __init__({}):\n    {}\n".format(", ".join(parameters), "\n    ".join(lines or ["pass"]))
    exec(text, known)  # noqa: S102 - names of fields, which the class itself declares
    constructor: Callable[..., None] = known["__init__"]
    return constructor


def _compared(one: Any) -> tuple[Any, ...]:
    return tuple([getattr(one, field.name) for field in fields(one) if field.compare])


def _representation(self: Any) -> str:
    shown = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr]
    return "{}({})".format(type(self).__qualname__, ", ".join(shown))


def _equality(self: Any, other: object) -> Any:
    return _compared(self) == _compared(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _refused(self: Any, name: str, *_: object) -> None:
    raise AttributeError(f"cannot assign to field {name!r}")

"""Dataclasses that cost little to declare: each program that ends at once declares two hundred and makes objects of half of them.

`dataclasses.dataclass` writes and compiles up to six methods for each class when its module is imported, 0.7 ms a class: a third of what
`check` took at a small server. Here comparing, hashing, showing and refusing to change are functions that all classes share, and so is what
makes the first objects of a class: `__init__` is compiled for those of which there are many. Fields, their defaults and slots are the standard
library's own work. Of a frozen class `__init__` sets by the slots' descriptors, in three fifths of the time an object took
(docs/decisions/051-lean-dataclasses.md).

Sources: Lib/dataclasses.py of Python 3.10 to 3.13; measurement.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

# So many objects of a class are made without an `__init__` of its own: to compile one takes as long as to make fifty so. Of half of the classes
# that get any object a command makes one, of four fifths no more than these.
MADE_WITHOUT = 16
# What annotations say of a name that is no field: these texts the standard library must see, and these words are written out.
NO_FIELDS = ("ClassVar", "InitVar", "KW_ONLY")

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        declared: type | None = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        eq: bool = True,
        kw_only: bool = False,
    ) -> Any:
        """A class decorator, as `dataclasses.dataclass` with the same arguments; `order` and `InitVar` it does not know."""
        if declared is not None:
            return _made(declared, frozen, slots, eq, kw_only)
        return lambda kind: _made(kind, frozen, slots, eq, kw_only)


def _made(declared: type, frozen: bool, slots: bool, eq: bool, kw_only: bool) -> type:
    # Without a text, dataclasses would ask for the signature of a method that is not there yet.
    declared.__doc__ = declared.__doc__ or declared.__name__
    has_own_hash = declared.__dict__.get("__hash__") is not None
    made: Any = _with_fields(declared, slots, kw_only)
    fields = dataclasses.fields(made)
    added: dict[str, Any] = {
        "__init__": _late_constructor(made, frozen),
        "__repr__": _shown([one.name for one in fields if one.repr]),
    }
    if eq:
        compared = _values(tuple(one.name for one in fields if one.compare))
        added["__eq__"] = _equality(compared)
        if not has_own_hash:
            # What changes has no hash.
            made.__hash__ = _hash(_values(tuple(one.name for one in fields if _is_hashed(one)))) if frozen else None
    if frozen:
        added |= {"__setattr__": _refuse_change, "__delattr__": _refuse_deletion}
        added |= {"__getstate__": _state, "__setstate__": _restore}
    for name, method in added.items():
        if name not in made.__dict__:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]  # a type; what is set in it above no type has


def _with_fields(declared: type, slots: bool, kw_only: bool) -> type:
    """The class with the standard library's fields. It is not shown the texts of annotations, each of which it searches for what is no field."""
    make = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)
    annotations = declared.__annotations__
    texts = {
        name: text
        for name, text in annotations.items()
        if isinstance(text, str) and not any(word in text for word in NO_FIELDS)
    }
    annotations.update(dict.fromkeys(texts, object))
    try:
        made: type = make(declared)
    finally:
        annotations.update(texts)
    for one in dataclasses.fields(made):
        one.type = texts.get(one.name, one.type)
    return made


def _is_hashed(field: Field[Any]) -> bool:
    return field.compare if field.hash is None else field.hash


def _values(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    """What gives the values of these attributes, always as a tuple: one that is the same object is equal, also where it is no number."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda _: ()
    get = attrgetter(names[0])
    return lambda one: (get(one),)


def _equality(values: Callable[[object], tuple[Any, ...]]) -> Callable[[object, object], Any]:
    def equal(self: object, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(values: Callable[[object], tuple[Any, ...]]) -> Callable[[object], int]:
    return lambda self: hash(values(self))


def _shown(names: list[str]) -> Callable[[object], str]:
    def shown(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return recursive_repr()(shown)


def _refuse_change(self: object, name: str, _: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    """For pickle and copy, which cannot set what is frozen."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


def _late_constructor(made: Any, frozen: bool) -> Callable[..., None]:
    """An `__init__` that sets the fields of the first objects itself, and puts a compiled one in its place for all others.

    Arguments that do not fit the compiled one refuses: what is wrong with them Python itself says. Two threads may both put it there.
    """
    left = MADE_WITHOUT
    set_fields: Callable[[object, tuple[object, ...], dict[str, object]], bool] | None = None

    def construct(self: object, /, *values: object, **named: object) -> None:
        nonlocal left, set_fields
        left -= 1
        if left >= 0:
            set_fields = set_fields or _setting(made, frozen)
            if set_fields(self, values, named):
                return
        made.__init__ = _constructor(made, frozen)
        made.__init__(self, *values, **named)

    return construct


def _setting(made: Any, frozen: bool) -> Callable[[object, tuple[object, ...], dict[str, object]], bool]:
    """What sets the fields of an object of this class, and says whether the arguments were such as its `__init__` takes; if not, it sets none."""
    fields = _set_at_first(made)
    in_turn = tuple(one.name for one in fields if one.init and not one.kw_only)
    taken = frozenset(one.name for one in fields if one.init)
    steps = [(one.name, one.default, one.default_factory, _setter(made, one.name, frozen)) for one in fields]
    has_end = hasattr(made, "__post_init__")

    def set_fields(self: Any, values: tuple[object, ...], named: dict[str, object]) -> bool:
        arguments = {**dict(zip(in_turn, values, strict=False)), **named}
        # Too many, one twice, or one that there is not.
        if len(arguments) != len(values) + len(named) or not taken.issuperset(arguments):
            return False
        ready: list[object] = []
        for name, default, make, _ in steps:
            if name in arguments:
                ready.append(arguments[name])
            elif make is not MISSING:
                ready.append(make())
            elif default is MISSING:
                return False
            else:
                ready.append(default)
        for value, (_, _, _, put) in zip(ready, steps, strict=True):
            put(self, value)
        if has_end:
            self.__post_init__()
        return True

    return set_fields


def _set_at_first(made: Any) -> list[Field[Any]]:
    """The fields that `__init__` sets: what is none of its parameters and has no default is `__post_init__`'s."""
    return [
        one
        for one in dataclasses.fields(made)
        if one.init or one.default is not MISSING or one.default_factory is not MISSING
    ]


def _setter(made: type, name: str, frozen: bool) -> Callable[[object, object], None]:
    slot = _slot(made, name) if frozen else None
    if slot is not None:
        return slot.__set__
    put = object.__setattr__ if frozen else setattr
    return lambda self, value: put(self, name, value)


def _constructor(made: Any, frozen: bool) -> Callable[..., None]:
    """`__init__` with every field as a parameter of its own: Python itself says what is missing or too much."""
    known: dict[str, Any] = {"_missing": MISSING}
    in_turn, by_name, lines = list[str](["self"]), list[str](), list[str]()
    for field in _set_at_first(made):
        value = _value(field, known)
        if field.init:
            (by_name if field.kw_only else in_turn).append(field.name + _default(field))
        lines.append(_assignment(made, field.name, value, known) if frozen else f"self.{field.name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*in_turn, *(["*", *by_name] if by_name else [])])
    text = f"def __init__({parameters}):\n    " + "\n    ".join(lines or ["pass"])
    exec(text, known)  # noqa: S102 - names of fields, which the class itself declares
    constructor: Callable[..., None] = known["__init__"]
    constructor.__qualname__ = f"{made.__qualname__}.__init__"
    return constructor


def _assignment(made: type, name: str, value: str, known: dict[str, Any]) -> str:
    """Past what refuses: by the slot's own descriptor, the quickest way; where the attribute has none, as the standard library does."""
    slot = _slot(made, name)
    if slot is not None:
        known[f"_set_{name}"] = slot.__set__
        return f"_set_{name}(self, {value})"
    known["_set"] = object.__setattr__
    return f"_set(self, {name!r}, {value})"


def _slot(made: type, name: str) -> types.MemberDescriptorType | None:
    slot = getattr(made, name, None)
    return slot if isinstance(slot, types.MemberDescriptorType) else None


def _default(field: Field[Any]) -> str:
    if field.default_factory is not MISSING:
        return "=_missing"
    return "" if field.default is MISSING else f"=_default_{field.name}"


def _value(field: Field[Any], known: dict[str, Any]) -> str:
    """What a field is set to, as Python; the default, or what makes it, goes among the names that the constructor knows."""
    if field.default_factory is not MISSING:
        known[f"_make_{field.name}"] = field.default_factory
        made = f"_make_{field.name}()"
        return f"{made} if {field.name} is _missing else {field.name}" if field.init else made
    known[f"_default_{field.name}"] = field.default
    return field.name if field.init else f"_default_{field.name}"

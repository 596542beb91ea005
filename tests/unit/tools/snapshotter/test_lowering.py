"""What a module of today's Python does, its lowered source does too; what has no place in Python 3.6 is refused."""

import ast
from typing import Any

import pytest

from tools.snapshotter.build import LEAST
from tools.snapshotter.lowering import LoweringError, lowered


def run(source: str) -> dict[str, Any]:
    """What is in a module of this source, once it is lowered; the syntax is 3.6's."""
    text = lowered(source, "example")
    ast.parse(text, feature_version=LEAST)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(text, "example", "exec"), names)
    return names


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[b for a in 'xyz' if (b := a.upper()) != 'Y']", ["X", "Z"]),
        ("[a for a in (1, 2, 3) if a > 1 and (b := a * 2) and b > 4]", [3]),
        ("[b for a in (1, 0) if (b := a)]", [1]),
        ("tuple(b if (b := {1: 'x'}.get(a)) is not None else a for a in (1, 2))", ("x", 2)),
        ("{'a': 1} | {'b': 2} | {'a': 3}", {"a": 3, "b": 2}),
        ("{1} | {2}", {1, 2}),
        ("6 | 1", 7),
        ("isinstance(1, int | str), isinstance(1.0, int | str)", (True, False)),
        ("'loose-x'.removeprefix('loose-') + 'x.MYD'.removesuffix('.MYD')", "xx"),
        ("'a'.isascii(), 'ä'.isascii()", (True, False)),
        (
            "list(zip('ab', 'cd', strict=True)), list(zip('ab', 'c', strict=False))",
            ([("a", "c"), ("b", "d")], [("a", "c")]),
        ),
        ("(lambda a, /, b=2: (a, b))(1)", (1, 2)),
        ("f'{1 + 1:0{3}}|{\"x\"!r}|{{}}|{3.14159:.2f}|' f'{{a}}'", "002|'x'|{}|3.14|{a}"),
        ('f\'{"a" if True else "b"}\'', "a"),
    ],
)
def test_an_expression_keeps_its_value(expression: str, expected: object) -> None:
    assert eval(expression) == expected, "the example is as Python has it"
    assert run(f"value = {expression}")["value"] == expected


def test_lists_of_other_lengths_are_refused_as_before() -> None:
    with pytest.raises(ValueError, match="different lengths"):
        run("value = list(zip('ab', 'c', strict=True))")


def test_a_loop_over_an_assignment_ends_where_it_did() -> None:
    source = """
parts, left, taken = ["a", "b", "", "c"], 9, []
while left > 7 and (part := parts.pop(0)):
    taken.append(part)
    left -= 1
"""
    names = run(source)
    assert (names["taken"], names["parts"], names["left"]) == (["a", "b"], ["", "c"], 7)


def test_dictionaries_are_taken_in_where_they_are() -> None:
    names = run(
        "class C: pass\nc = C()\nc.a = {1: 1}\nkept = c.a\nc.a |= {2: 2}\nflags = 4\nflags |= 1\nd = {}\nd |= {3: 3}"
    )
    assert (names["kept"], names["flags"], names["d"]) == ({1: 1, 2: 2}, 5, {3: 3})


def test_annotations_go_and_fields_stay() -> None:
    source = """
from __future__ import annotations
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, Protocol, TypeVar, overload
if TYPE_CHECKING:
    import nowhere
T = TypeVar("T")
Value = int | str | None
Row = Mapping[str, Value]
Kind = Literal["a", "b"]
Names = tuple[str, ...]
class Shape(Protocol):
    def area(self) -> float: ...
class Base(Generic[T]):
    sections: Mapping[str, Sequence[int]]
    @overload
    def of(self, a: int) -> int: ...
    @overload
    def of(self, a: str) -> str: ...
    def of(self, a: Value) -> Value:
        found: list[Value] = [a]
        later: int
        return found[0]
class One(Base[tuple[int, ...]]):
    pass
@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: nowhere.Type = 2
    z: list[int] = field(default_factory=list, compare=False)
class Pair(NamedTuple):
    a: int
    b: str = "b"
    def both(self) -> str:
        return f"{self.a}{self.b}"
point = replace(Point(1), x=5)
"""
    names = run(source)
    assert (names["point"].x, names["point"].y, names["point"].z) == (5, 2, [])
    assert names["One"]().of(3) == 3
    assert names["Pair"](1).both() == "1b"


@pytest.mark.parametrize(
    "source",
    [
        "match 1:\n    case 1: pass",
        "if (a := 1) > 0: pass",
        "x = [{}]\nx[0] |= x[0]",
        "from typing import Literal\nx = print(Literal)",
        "import dataclasses",
        "while (a := 0): pass\nelse: pass",
        "Path('a').readlink()",
    ],
)
def test_what_has_no_place_is_refused_with_its_line(source: str) -> None:
    with pytest.raises(LoweringError, match=r"example, line [0-9]+: .*teach tools/snapshotter/lowering.py"):
        lowered(source, "example")

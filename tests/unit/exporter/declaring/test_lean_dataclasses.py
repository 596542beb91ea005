"""A lean dataclass does what the standard library's does: each property is asked of one of each, declared by the same text."""

import copy
import dataclasses
import math
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, field, fields, replace
from functools import cached_property, partial
from itertools import count
from typing import Any, ClassVar, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.declaring import lean_dataclasses

T = TypeVar("T")
VALUES = st.one_of(st.integers(), st.text(max_size=3), st.none(), st.floats())


def declared(dataclass: Callable[..., Any]) -> dict[str, Any]:
    numbers = count()

    @dataclass(frozen=True, slots=True)
    class Point:
        x: object
        y: object = 2
        z: list[int] = field(default_factory=list)
        number: int = field(default_factory=lambda: next(numbers), init=False, repr=False, compare=False)
        fixed: str = field(default="f", init=False)

    @dataclass(slots=True)
    class Tally:
        most: ClassVar[int] = 7
        count: int = 0
        name: str = field(default="", compare=False)

    @dataclass(frozen=True, slots=True)
    class Named(Point):
        """With a text, a check and a field more."""

        name: str = ""

        def __post_init__(self) -> None:
            if self.name == "bad":
                raise ValueError("a bad name")

        @property
        def shown(self) -> str:
            return f"{self.name}: {self.x}"

    @dataclass(frozen=True, slots=True)
    class Holder(Generic[T]):
        held: T

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    @dataclass(frozen=True)
    class Remembering:
        text: str

        @cached_property
        def length(self) -> int:
            return len(self.text)

    @dataclass
    class Open:
        text: str = "a"

    @dataclass(slots=True, eq=False)
    class Itself:
        text: str

    @dataclass(frozen=True, slots=True, kw_only=True)
    class ByName:
        b: int
        a: int = 1

    @dataclass(slots=True)
    class Ending:
        a: int
        b: int = field(init=False)

        def __post_init__(self) -> None:
            if self.a:
                self.b = self.a + 1

    @dataclass(frozen=True, slots=True)
    class Compared:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Compared) and self.text.lower() == other.text.lower()

        def __hash__(self) -> int:
            return hash(self.text.lower())

        def __repr__(self) -> str:
            return "as it likes"

    return {name: made for name, made in locals().items() if isinstance(made, type)}


LEAN, PLAIN = declared(lean_dataclasses.dataclass), declared(dataclasses.dataclass)


@pytest.fixture(params=[0, 1_000_000], ids=["compiled", "shared"], autouse=True, scope="module")
def made_without(request: pytest.FixtureRequest) -> Iterator[None]:
    """What is asked of the first objects of a class is asked of the later ones, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lean_dataclasses, "MADE_WITHOUT", request.param)
        LEAN.update(declared(lean_dataclasses.dataclass))
        yield


@lean_dataclasses.dataclass(frozen=True, slots=True)
class Sent:
    """Where pickle finds it."""

    a: int
    b: str


def both(name: str) -> Iterator[Any]:
    yield from (LEAN[name], PLAIN[name])


def told(ask: Callable[[], object]) -> object:
    """What comes of it, or how it is refused, without the place of the class in the text."""
    try:
        return ask()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, str(error).replace("declared.<locals>.", "")


def same(name: str, ask: Callable[[Any], object]) -> object:
    lean, plain = (told(partial(ask, kind)) for kind in both(name))
    assert lean == plain
    return lean


@given(VALUES, VALUES, VALUES, VALUES)
def test_objects_are_equal_hashed_and_shown_as_the_standard_librarys(a: object, b: object, c: object, d: object) -> None:
    same("Point", lambda kind: (kind(a, b) == kind(c, d), kind(a, b) != kind(c, d), repr(kind(a, b, [1]))))
    same("Point", lambda kind: kind(a) == kind(a))
    same("Holder", lambda kind: (kind(a) == kind(c), hash(kind(a)) == hash(kind(a)), repr(kind((a, c)))))
    same("Tally", lambda kind: (kind(1, "a") == kind(1, "b"), kind(1) == kind(2), repr(kind(3, "n"))))


def test_a_number_that_is_none_equals_itself() -> None:
    """From Python 3.13 on one of the standard library's does not, which asks its fields one by one."""
    assert [kind(math.nan) == kind(math.nan) for kind in both("Holder")] == [True, sys.version_info < (3, 13)]


def test_arguments_defaults_and_what_is_missing_or_too_much() -> None:
    for ask in (
        lambda kind: kind(),
        lambda kind: repr(kind(1, 2, [3], 4)),
        lambda kind: kind(1, w=2),
        lambda kind: kind(1, x=2),
        lambda kind: repr(kind(y=1, x=0)),
        lambda kind: kind(1).z is kind(1).z,
        lambda kind: kind(1).fixed,
    ):
        same("Point", ask)
        same("Named", ask)
    for ask in (lambda kind: kind(1), lambda kind: kind(a=2), lambda kind: repr(kind(b=1)), lambda kind: repr(kind(b=1, a=3))):
        same("ByName", ask)
    for kind in both("Point"):
        assert kind(1).number < kind(1).number


def test_what_nobody_sets_stays_unset() -> None:
    for ask in (lambda kind: kind(1).b, lambda kind: hasattr(kind(0), "b"), lambda kind: kind(1, 2)):
        same("Ending", ask)


def test_what_is_frozen_does_not_change() -> None:
    for kind in both("Point"):
        one = kind(1)
        for change in (partial(setattr, one, "x", 2), partial(setattr, one, "w", 2), partial(delattr, one, "x")):
            with pytest.raises((FrozenInstanceError, TypeError)):  # TypeError: what 3.10 raises for names that are no fields
                change()
        assert one.x == 1
    for kind in both("Tally"):
        one = kind()
        one.count += 1
        assert one == kind(1)


def test_hashes() -> None:
    assert same("Tally", lambda kind: kind.__hash__) is None
    same("Tally", lambda kind: hash(kind()))
    assert same("Empty", lambda kind: hash(kind())) == hash(())
    same("Itself", lambda kind: (kind("a") == kind("a"), kind.__hash__ is object.__hash__))
    assert same("Compared", lambda kind: ({kind("a"), kind("A")} == {kind("a")}, repr(kind("a")))) == (True, "as it likes")
    for kind in both("Point"):
        assert told(partial(hash, kind(1, 2))) == ("TypeError", "unhashable type: 'list'")


def test_inheritance_checks_and_properties() -> None:
    same("Named", lambda kind: (kind(1, name="n").shown, repr(kind(1, 2, [], "n")), kind(1) == kind(1)))
    assert same("Named", lambda kind: kind(1, name="bad")) == ("ValueError", "a bad name")
    for kinds in (LEAN, PLAIN):
        assert kinds["Named"](1) != kinds["Point"](1)


def test_slots_and_what_has_none() -> None:
    for kinds in (LEAN, PLAIN):
        assert not hasattr(kinds["Point"](1), "__dict__")
        one = kinds["Remembering"]("four")
        assert (one.length, one.__dict__) == (4, {"text": "four", "length": 4})
        with pytest.raises(FrozenInstanceError):
            one.text = ""
        other = kinds["Open"]()
        other.further = 1
        assert other == kinds["Open"]("a")


def test_the_standard_librarys_functions_know_it() -> None:
    for name in LEAN:
        same(name, lambda kind: [(one.name, one.type, one.kw_only) for one in fields(kind)])
        same(name, lambda kind: kind.__annotations__)
    same("Named", lambda kind: kind.__match_args__)
    same("Named", lambda kind: dataclasses.asdict(kind(1, [2], [3], "n")) | {"number": 0})
    same("Point", lambda kind: repr(replace(kind(1), y=5)))
    same("Point", lambda kind: replace(kind(1), fixed="g"))
    for kinds in (LEAN, PLAIN):
        match kinds["Point"](1, 5):
            case object(x=1, y=found):
                assert found == 5


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies(again: Callable[[Any], Any]) -> None:
    one = Sent(1, "b")
    assert again(one) == one
    assert again(one) is not one


def test_an_object_that_holds_itself_is_shown() -> None:
    for kind in both("Tally"):
        one = kind()
        one.name = [one]
        assert repr(one).count("...") == 1


def test_a_constructor_is_compiled_where_there_are_many_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lean_dataclasses, "MADE_WITHOUT", 3)
    kind = declared(lean_dataclasses.dataclass)["Point"]
    shared = kind.__init__
    for _ in range(3):
        kind(1, y=3)
        assert kind.__init__ is shared
    assert (kind(1, y=3).y, kind(1, y=3)) == (3, kind(1, y=3))
    assert kind.__init__ is not shared


def test_threads_that_make_the_first_objects_at_once() -> None:
    for _ in range(50):
        kind = declared(lean_dataclasses.dataclass)["Point"]
        made: list[Any] = []
        barrier = threading.Barrier(4)

        def make(kind: Any = kind, made: list[Any] = made, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            made.append(kind(1, 2))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [kind(1, 2)] * 4

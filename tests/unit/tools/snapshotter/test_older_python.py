"""What stands for newer parts of the standard library does as they do."""

import dataclasses
import graphlib
import os
import platform
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.collectors.base import all_collectors
from tools.snapshotter.parts import older_python as older


def made(module: Any) -> Any:
    """The same classes by this module."""

    class Base:
        pass

    class Thing(Base):
        name: str
        size: int = 3
        tags: list[str] = module.field(default_factory=list)
        number: int = module.field(default=7, compare=False, repr=False)
        hidden: int = module.field(default_factory=lambda: 9, init=False, repr=False, compare=False)

    return module.dataclass(frozen=True)(Thing)


@pytest.mark.parametrize("module", [dataclasses, older], ids=["standard", "ours"])
def test_a_dataclass(module: Any) -> None:
    thing_type = made(module)
    thing = thing_type("a", tags=["x"])
    assert (thing.name, thing.size, thing.tags, thing.number, thing.hidden) == ("a", 3, ["x"], 7, 9)
    assert repr(thing).endswith("Thing(name='a', size=3, tags=['x'])")
    assert thing == thing_type("a", 3, ["x"], number=8)
    assert thing != thing_type("b", 3, ["x"])
    assert thing_type("a").tags is not thing_type("a").tags
    assert module.replace(thing, size=4).size == 4
    assert hash(thing_type("a", tags=())) == hash(thing_type("a", tags=()))
    with pytest.raises(AttributeError, match="cannot assign to field"):
        thing.name = "b"
    with pytest.raises(TypeError):
        thing_type()
    with pytest.raises(TypeError):
        thing_type("a", hidden=1)
    assert [field.name for field in module.fields(thing)] == ["name", "size", "tags", "number", "hidden"]


def test_one_that_may_change_is_no_key() -> None:
    class Memo:
        known: dict[str, int] = older.field(default_factory=dict)

    memo = older.dataclass(slots=True)(Memo)()
    memo.known = {"a": 1}
    assert memo.known == {"a": 1}
    with pytest.raises(TypeError, match="unhashable"):
        hash(memo)


def test_a_dataclass_without_eq_is_equal_to_itself_alone() -> None:
    class Thing:
        a: int

    kind = older.dataclass(eq=False)(Thing)
    assert kind(1) != kind(1)


def test_collectors_come_in_the_same_order() -> None:
    graph = {collector.name: collector.after for collector in sorted(all_collectors(), key=lambda one: one.name)}
    assert list(older.TopologicalSorter(graph).static_order()) == list(graphlib.TopologicalSorter(graph).static_order())


def test_a_circle_is_refused() -> None:
    with pytest.raises(ValueError, match="circle"):
        list(older.TopologicalSorter({"a": ("b",), "b": ("a",)}).static_order())


def test_a_context_variable_is_of_its_thread() -> None:
    variable = older.ContextVar("look", default=None)
    before = variable.set(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(variable.get()))
    thread.start()
    thread.join()
    assert (variable.get(), seen) == (1, [None])
    variable.reset(before)
    assert variable.get() is None


def test_a_memory_file_is_one() -> None:
    descriptor = older.memory_file("test")
    try:
        os.write(descriptor, b"x")
        assert os.fstat(descriptor).st_size == 1
    finally:
        os.close(descriptor)


def test_without_the_system_call_there_is_a_descriptor_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "m68k")
    os.close(older.memory_file("test"))


def test_the_clock_since_boot_is_the_same() -> None:
    assert time.CLOCK_BOOTTIME == older.CLOCK_BOOTTIME


@pytest.mark.parametrize(("given", "lengths"), [(("ab", "cd"), 2), ((), 0), (("",), 0)])
def test_zip_strictly(given: tuple[str, ...], lengths: int) -> None:
    assert list(older.zip_strictly(*given)) == list(zip(*given, strict=True))
    assert len(list(older.zip_strictly(*given))) == lengths


@pytest.mark.parametrize(("text", "suffix"), [("abc", "bc"), ("abc", ""), ("abc", "x"), ("bc", "bc")])
def test_affixes(text: str, suffix: str) -> None:
    assert older.without_suffix(text, suffix) == text.removesuffix(suffix)
    assert older.without_prefix(text, suffix) == text.removeprefix(suffix)


def test_without_a_clock_since_boot_uptime_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert older.clock_gettime(older.CLOCK_BOOTTIME) == pytest.approx(expected, abs=5)

    def refused(clock: int) -> float:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr("time.clock_gettime", refused)
    assert older.clock_gettime(older.CLOCK_BOOTTIME) == pytest.approx(expected, abs=5)
    with pytest.raises(OSError, match="Invalid argument"):
        older.clock_gettime(time.CLOCK_MONOTONIC)


def test_a_kernel_that_asks_no_place_for_its_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = os.open(tmp_path, os.O_PATH)
    try:
        expected = older.space_of_descriptor(descriptor).f_blocks

        def refused(number: int) -> os.statvfs_result:
            raise OSError(9, "Bad file descriptor")

        monkeypatch.setattr("os.fstatvfs", refused)
        assert older.space_of_descriptor(descriptor).f_blocks == expected
    finally:
        os.close(descriptor)


def test_the_c_library_is_the_one_that_runs() -> None:
    assert older.libc_version() == platform.libc_ver()

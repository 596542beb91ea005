"""Some of a server's variables: what was not asked is not taken for what is not there."""

import pytest

from myisam_exporter.server.asked_names import AskedNames, NotAskedError, status_named, variables_named


def test_names_that_were_asked_are_there_or_missing() -> None:
    told = AskedNames([("a", 1)], frozenset({"a", "b"}))
    assert (told["a"], told.get("a"), told.get("b"), told.get("b", 2)) == (1, 1, None, 2)
    assert "a" in told
    assert "b" not in told
    with pytest.raises(KeyError):
        told["b"]


def test_another_name_is_a_fault_of_whoever_reads_it() -> None:
    told = AskedNames([("a", 1)], frozenset({"a"}))
    for read in (lambda: told["c"], lambda: told.get("c"), lambda: "c" in told):
        with pytest.raises(NotAskedError, match="c was not asked"):
            read()


def test_what_asks_for_them() -> None:
    names = frozenset({"b", "a'"})
    assert status_named(names) == "SHOW GLOBAL STATUS WHERE Variable_name IN (_utf8mb4 0x6127, 'b')"
    assert variables_named(names) == "SHOW GLOBAL VARIABLES WHERE Variable_name IN (_utf8mb4 0x6127, 'b')"

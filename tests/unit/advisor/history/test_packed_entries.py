"""Entries of a history that unpack to more than they may, or to something else than a document."""

import tracemalloc
import zlib

import pytest

from myisam_advisor.errors import DamagedError
from myisam_advisor.history import format as history_format
from myisam_advisor.history.format import unpack_facts, unpack_sample


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """Two hundred megabytes of blanks."""
    packing = zlib.compressobj(1)
    return b"".join(packing.compress(b" " * (1 << 20)) for _ in range(200)) + packing.flush()


@pytest.mark.parametrize("unpack", [unpack_sample, lambda packed: unpack_facts(packed, "")])
def test_nothing_inflates_beyond_its_bound(unpack: object, bomb: bytes) -> None:
    assert len(bomb) < 1 << 20
    tracemalloc.start()
    with pytest.raises(DamagedError, match="more than"):
        unpack(bomb)  # type: ignore[operator]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * history_format.MAXIMUM_WHOLE_BYTES


@pytest.mark.parametrize(
    "document",
    [
        b"[]",
        b"{",
        b"\xff",
        b'{"a":' + b"[" * 100_000,
        b"1",
        b'{"a": NaN}',
        b'{"tables": 5}',
        b'{"tables": {"host": {"columns": 5, "rows": 5}}}',
    ],
)
def test_a_document_of_another_form_is_damaged_and_nothing_else(document: bytes) -> None:
    for unpack in (unpack_sample, lambda packed: unpack_facts(packed, "")):
        try:
            found = unpack(zlib.compress(document))
        except DamagedError as error:
            assert str(error)
        else:
            assert found in ({}, {"tables": 5})

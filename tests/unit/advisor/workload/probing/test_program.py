"""Programs for the kernel's machine: those of each layout hold together, and this kernel takes them."""

import os
from contextlib import ExitStack

import pytest

from myisam_advisor.workload.probing.kernel import counted, loaded, made_maps
from myisam_advisor.workload.probing.place import LAYOUTS, Layout, Offsets, Packet
from myisam_advisor.workload.probing.program import Maps, begin_program, end_program
from myisam_exporter.errors import UserError


@pytest.mark.parametrize("layout", sorted(set(LAYOUTS.values()), key=str), ids=lambda layout: "union" if layout.union else "suspended" if layout.may_suspend else "packet")
@pytest.mark.parametrize("offsets", [None, Offsets(4000, 16000, None), Offsets(4000, 16000, 9648, Packet(6184, 96, 88))], ids=["learning", "learned", "all learned"])
def test_the_kernel_takes_each_program(layout: Layout, offsets: Offsets | None) -> None:
    with ExitStack() as opened:
        try:
            maps = made_maps(1 << 16, opened)
        except UserError as error:
            pytest.skip(str(error))
        for code in (begin_program(maps, layout, offsets), end_program(maps, layout)):
            os.close(loaded(code))
        assert counted(maps) == (0, 0)


def test_where_a_session_has_what_is_in_the_program() -> None:
    layout = min(LAYOUTS.values(), key=str)
    learning = begin_program(Maps(3, 4), layout, None)
    learned = begin_program(Maps(3, 4), layout, Offsets(4000, 16000, None))
    assert (4000).to_bytes(4, "little") in learned
    assert (4000).to_bytes(4, "little") not in learning
    assert len(learned) > len(learning) > len(end_program(Maps(3, 4), layout))

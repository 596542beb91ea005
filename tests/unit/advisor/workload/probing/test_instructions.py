"""Instructions as the kernel's machine has them: each by the bytes that LLVM writes for it."""

import pytest

from myisam_advisor.workload.probing.instructions import Assembler, Compared, Helper, Register


def test_each_instruction_is_what_a_compiler_writes() -> None:
    code = Assembler()
    code.load(Register.KEPT_B, Register.KEPT_A, 88, 4)
    code.load(Register.THIRD, Register.STACK, -16, 8)
    code.store(Register.STACK, -24, Register.FIRST, 4)
    code.store(Register.KEPT_D, 16, Register.KEPT_A, 8)
    code.store_number(Register.KEPT_D, 12, 2)
    code.count(Register.FIRST, 0, Register.SECOND)
    code.address(Register.FIRST, Register.KEPT_D, 112)
    code.set_map(Register.FIRST, 5)
    code.set_map_value(Register.FIRST, 5, 8)
    code.join(Register.KEPT_B, Register.ANSWER)
    code.call(Helper.RESERVE)
    code.leave()
    assert code.assembled().hex(" ", 8).split() == [
        "6167580000000000", "79a3f0ff00000000", "631ae8ff00000000", "7b69100000000000", "62090c0002000000", "db21000000000000",
        "bf91000000000000", "0701000070000000", "1811000005000000", "0000000000000000", "1821000005000000", "0000000008000000",
        "4f07000000000000", "8500000083000000", "b700000000000000", "9500000000000000",
    ]  # fmt: skip


def test_jumps_go_forward_to_their_labels() -> None:
    code = Assembler()
    code.jump_if(Register.FIRST, Compared.GREATER, 128, "far")
    code.jump("near")
    code.label("near")
    code.set(Register.SECOND, 1)
    code.label("far")
    code.leave()
    assert code.assembled()[:16].hex(" ", 8) == "2501020080000000 0500000000000000"


def test_a_jump_to_nowhere_or_back_and_a_label_twice_are_refused() -> None:
    code = Assembler()
    code.label("here")
    with pytest.raises(ValueError, match="already"):
        code.label("here")
    code.jump("here")
    with pytest.raises(ValueError, match="no way forward to here"):
        code.assembled()
    other = Assembler()
    other.jump("nowhere")
    with pytest.raises(ValueError, match="no way forward to nowhere"):
        other.assembled()

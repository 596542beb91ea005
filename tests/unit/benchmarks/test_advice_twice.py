"""`script/bench advice --again`: changes that one kind of processor judged, held against another."""

from benchmarks.advice.left import pieces_left
from benchmarks.advice.model import Advice, Change
from benchmarks.advice.outcomes import IMPROVES, NOTHING, UNCLEAR, WORSENS, Outcome
from benchmarks.advice.record import MEASURED, Line, advice_line
from benchmarks.advice.scenarios import all_scenarios
from benchmarks.advice.tally import Case
from benchmarks.advice.twice import in_words, measured_twice, of_this_processor, processor, wanted_again

FIRST, OTHER_MEMORY, SECOND = (
    "2 cores (one), 24 GiB of memory, Linux 6.1", "2 cores (one), 23 GiB of memory, Linux 6.1", "2 cores (another), 24 GiB of memory, Linux 6.1",
)  # fmt: skip
SAID = Advice("ours", "1.0", tuple(Change(name, "1", None, "Do it.", "warning", "rule") for name in ("a", "b", "c")), ())


def measured(key: str, outcome: str, machine: str, ratio: float | None = 1.0) -> Line:
    return {"kind": MEASURED, "key": key, "machine": machine, **Outcome(outcome, ratio=ratio, low=ratio, high=ratio).document()}


def case_of(*lines: Line) -> Case:
    return Case(all_scenarios()[0], "mariadb-10.11", [{**advice_line(SAID), "machine": FIRST}, *lines])


def test_the_kind_of_processor_is_no_matter_of_memory() -> None:
    assert processor(FIRST) == processor(OTHER_MEMORY) != processor(SECOND)


def test_what_was_clear_elsewhere_and_is_proposed_still_is_wanted_again() -> None:
    case = case_of(
        measured("a=1", IMPROVES, FIRST), measured("b=1", UNCLEAR, FIRST), measured("c=1", NOTHING, FIRST, None), measured("d=1", IMPROVES, FIRST)
    )  # fmt: skip
    place = (case.scenario.name, case.server)
    assert wanted_again([case], "ours", SECOND) == {place: {"a=1"}}
    assert wanted_again([case], "ours", OTHER_MEMORY) == {}
    assert wanted_again([case], "somebody", SECOND) == {}
    assert wanted_again([case_of(*case.lines, measured("a=1", UNCLEAR, SECOND))], "ours", SECOND) == {}


def test_what_cannot_touch_a_load_is_not_wanted_again() -> None:
    said = Advice("ours", "1.0", (Change("log_slow_min_examined_row_limit", "1000", None, "Do it.", "info", "rule"),), ())
    case = Case(all_scenarios()[0], "mariadb-10.11", [advice_line(said), measured("log_slow_min_examined_row_limit=1000", NOTHING, FIRST)])
    assert case.untouching.why_key("log_slow_min_examined_row_limit=1000") is not None
    assert wanted_again([case], "ours", SECOND) == {}


def test_it_is_left_until_this_processor_measured_it() -> None:
    lines = case_of(measured("a=1", IMPROVES, FIRST), measured("b=1", IMPROVES, SECOND)).lines

    def left(known: list[Line]) -> list[str]:
        return [piece.key for piece in pieces_left(SAID, of_this_processor(known, SECOND), 60.0, {"a=1", "b=1"})]

    assert left([*lines]) == ["a=1"]
    just_made = {name: value for name, value in measured("a=1", WORSENS, "").items() if name != "machine"}
    assert left([*lines, just_made]) == []


def test_a_contradiction_is_told() -> None:
    found = measured_twice([
        case_of(
            measured("a=1", IMPROVES, FIRST), measured("a=1", UNCLEAR, SECOND), measured("a=1", WORSENS, SECOND),
            measured("b=1", IMPROVES, FIRST), measured("b=1", IMPROVES, SECOND),
            measured("c=1", UNCLEAR, FIRST), measured("c=1", IMPROVES, OTHER_MEMORY),
        )
    ])  # fmt: skip
    assert [(one.key, one.outcomes, one.is_contradicted) for one in found] == [
        ("a=1", (IMPROVES, WORSENS), True),
        ("b=1", (IMPROVES, IMPROVES), False),
    ], "what one kind measured twice is not measured by two"
    assert in_words(found).endswith("Of the 2 whose first outcome was clear, the second is the same for 1; 1 made a load faster on one and slower on the other.")
    assert in_words(found[1:2]) == "On two kinds of processors 1 change was measured. Of the 1 whose first outcome was clear, the second is the same for 1; 0 made a load faster on one and slower on the other."
    unclear = measured_twice([case_of(measured("c=1", UNCLEAR, FIRST), measured("c=1", IMPROVES, SECOND))])
    assert in_words(unclear) == "On two kinds of processors 1 change was measured, none whose first outcome was clear."

import dataclasses
import json
from pathlib import Path

import pytest

from myisam_advisor.proofs.proof import NO_DIFFERENCE, UNCLEAR, WORSE
from myisam_advisor.trial.statements.replay_report import as_json, as_text, conclusion, draw
from myisam_advisor.trial.statements.replay_result import KindShare, Window

from .results import a_result

GOLDEN = Path(__file__).with_name("replay_report.txt")


def test_the_report_is_the_golden_one(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    text = as_text(a_result()) + "\n" + "=" * 20 + "\n" + as_text(a_result("1"))
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


def test_errors_are_called_other_than_recorded_only_where_the_recording_tells_errors() -> None:
    result = a_result()
    told = dataclasses.replace(result, fidelity=dataclasses.replace(result.fidelity, errors_recorded=True))
    unknown, known = (" ".join(as_text(one).split()) for one in (result, told))
    assert "failed here; the recording does not show whether it failed there too: 3 x insert into log values(?+) (error 1062)" in unknown
    assert "other than recorded: 10 x select count(*) from log (2 rows, not 1)" in unknown
    assert "other than recorded: 3 x insert into log values(?+) (error 1062)" in known


def test_what_is_not_in_the_recording_is_told_beside_where_it_is_from() -> None:
    result = a_result()
    missed = dataclasses.replace(result, workload={**result.workload, "not_recorded": "83 (LOAD DATA)"})
    said, plain = (" ".join(as_text(one).split()) for one in (missed, result))
    assert "14:13:20 UTC. Not in the recording, and nothing is said of them: 83 (LOAD DATA)." in said
    assert "Not in the recording" not in plain


def test_what_is_known_of_the_recording_is_told_beside_it() -> None:
    result = a_result()
    partly = dataclasses.replace(result, workload={**result.workload, "notes": "partly: 3 of 900 statements"})
    assert "14:13:20 UTC. Known of it: partly: 3 of 900 statements." in " ".join(as_text(partly).split())


def test_of_hundreds_of_tables_some_are_named_and_json_has_all() -> None:
    result = a_result()
    [written] = [one for one in result.fidelity.tables if one.changed_since_seconds is not None]
    names = tuple(f"shop.t{number}" for number in range(1_600))
    fidelity = dataclasses.replace(result.fidelity, tables=tuple(dataclasses.replace(written, table=name) for name in names))
    many = dataclasses.replace(result, tables=names, fidelity=fidelity)
    text = " ".join(as_text(many).split())
    assert "shop.t18, shop.t19 and 1,580 more" in text
    assert "1,580 more tables were written (--format json names them)" in text
    assert "shop.t20" not in text
    document = json.loads(as_json(many, {}))
    assert document["tables"] == list(names)
    assert [one["table"] for one in document["fidelity"]["tables"]] == list(names)


def test_json_is_one_document_with_what_all_begin_with() -> None:
    document = json.loads(as_json(a_result(), {"kept": [], "not_kept": None}))
    assert document["tool"]["name"] == "myisam-advisor"
    assert document["variants"][0]["verdict"] == "worth it"


def test_names_of_others_cannot_speak_to_the_terminal() -> None:
    result = a_result()
    hostile = dataclasses.replace(result.variants[0], name="a\x1b[2J\nb", problem="", times=2.0)
    text = as_text(dataclasses.replace(result, variants=(hostile,), tables=("x\x1b]0;y\x07",), kinds=()))
    assert "\x1b" not in text
    assert "\x07" not in text


@pytest.mark.parametrize(
    ("verdict", "said"),
    [(UNCLEAR, "not clear"), (NO_DIFFERENCE, "makes a difference"), (WORSE, "slower by key_buffer_size=1G")],
)
def test_the_first_sentence_says_no_more_than_is_known(verdict: str, said: str) -> None:
    result = a_result()
    one = dataclasses.replace(result.variants[0], verdict=verdict)
    assert said in conclusion(dataclasses.replace(result, variants=(one,)))


def test_the_first_words_say_where_another_load_than_the_users_was_measured() -> None:
    result = a_result()
    failing = dataclasses.replace(result.fidelity, differing_share=0.97)
    assert conclusion(dataclasses.replace(result, fidelity=failing)).endswith(
        "But 97 % was not answered as recorded: another load than yours was measured, see below."
    )
    partly = dataclasses.replace(result.fidelity.window, left_out=(KindShare("select a from big", 0.91, 0.91),))
    unsent = dataclasses.replace(result.fidelity, window=partly)
    assert conclusion(dataclasses.replace(result, fidelity=unsent)).endswith(
        "But statements of weight were not sent: it says nothing of the whole recording, see below."
    )
    assert "not answered" not in conclusion(result)


def test_a_part_of_the_recording_is_told_as_such() -> None:
    result = a_result("1")
    absent, shifted = KindShare("select late from t", 0.3, 0.0), KindShare("select early from t", 0.1, 0.4)
    window = Window(2_050, 12.3, 10_010, 60.0, 0.2, (absent,), (shifted,))
    part = dataclasses.replace(result.fidelity, window=window, statements=2_050, sent=2_040)
    text = " ".join(as_text(dataclasses.replace(result, fidelity=part)).split())
    assert "Replay of the first 12.3 s (20 % of the statements' time) of 10,010 statements" in text
    assert "12.3 of 60 s: 2,050 of 10,010 recorded statements, 20 % of their time" in text
    assert "Sent: 2,040 of 2,050 statements of it." in text
    assert "not in it: 30 % of the recorded time: select late from t" in text
    assert "40 % of its time, 10 % of the whole recording's: select early from t" in text
    assert "kept as no proof" in text
    assert "kept as no proof" not in as_text(result)
    tiny = dataclasses.replace(part, window=dataclasses.replace(window, seconds=0.013, time_share=0.004))
    text = " ".join(as_text(dataclasses.replace(result, fidelity=tiny)).split())
    assert "Replay of the first 0.013 s (" in text
    assert "0.013 of 60 s: 2,050 of 10,010 recorded statements, 0.4 % of their time" in text


def test_a_part_of_a_recording_without_times_is_told_in_statements() -> None:
    result = a_result()
    absent = tuple(KindShare(f"select {number} from t", 0.02, 0.0) for number in range(23))
    window = Window(1_200, 11.6, 30_600, 359.9, 0.04, absent, tells_times=False)
    part = dataclasses.replace(result.fidelity, window=window, statements=1_200, sent=1_200)
    text = " ".join(as_text(dataclasses.replace(result, fidelity=part)).split())
    assert "Replay of the first 11.6 s (4 % of the statements) of" in text
    assert "1,200 of 30,600 recorded statements, 4 % of the statements. More" in text
    assert "not in it: 2 % of the recorded statements: select 0 from t" in text
    assert "not in it: 3 more kinds" in text
    assert "has no times: how much the rest of it weighs is not known. What it says" in text
    assert "kept as no proof" in text
    assert "their time" not in text


def test_what_of_weight_could_not_be_sent_is_told() -> None:
    result = a_result()
    window = dataclasses.replace(result.fidelity.window, left_out=(KindShare("select a from big", 0.91, 0.91),), sent_share=0.09)
    text = " ".join(as_text(dataclasses.replace(result, fidelity=dataclasses.replace(result.fidelity, window=window))).split())
    assert "of weight among them: 91 % of the recorded time: select a from big What it says holds for the statements that were sent, and is kept as no proof." in text


def test_where_nothing_could_be_tried_it_says_so() -> None:
    result = a_result()
    assert "Nothing could be tried" in conclusion(dataclasses.replace(result, variants=result.variants[2:]))


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw(a_result(), tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text().startswith("<?xml")


def test_one_statement_of_a_kind_is_one() -> None:
    result = a_result()
    few = dataclasses.replace(result, kinds=tuple(dataclasses.replace(one, statements=1) for one in result.kinds))
    assert "1 statement, " in as_text(few)
    assert "1 statements" not in as_text(few)

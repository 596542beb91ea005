"""Numbers on the command line: plain digits within a range, and what is none is told with the range."""

import click
import pytest

from myisam_advisor.cli.number_types import Number, WholeNumber
from myisam_exporter.errors import brief
from tests.support.program import run

ODD = ["", " ", "1G", "1 GiB", "1e3", "0x10", "\u0663", "1_0", "inf", "-inf", "nan", "1,5", "10s", "ten", "9" * 30, "9" * 5000, "1\n2"]


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize(("kind", "what"), [(WholeNumber(1, 600), "whole number from 1 to 600"), (Number(0, 600), "number from 0 to 600"), (WholeNumber(0), "whole number of 0 or more, with 15 digits at most")])
def test_what_is_no_number_is_told_with_those_that_are(kind: WholeNumber | Number, what: str, text: str) -> None:
    with pytest.raises(click.BadParameter) as refused:
        kind.convert(text, None, None)
    assert refused.value.message == f"{brief(text)} is not a {what}"


@pytest.mark.parametrize("text", ["0", "-0", "-1", "601", "-99999999999999999999"])
def test_what_is_out_of_range_is_told_so(text: str) -> None:
    with pytest.raises(click.BadParameter) as refused:
        WholeNumber(1, 600).convert(text, None, None)
    assert refused.value.message == f"{text!r} is not a whole number from 1 to 600"


@pytest.mark.parametrize(("kind", "text", "number"), [(WholeNumber(1, 600), " 7 ", 7), (WholeNumber(1, 600), "+600", 600), (WholeNumber(1), 40, 40), (Number(0, 600), "0.25", 0.25), (Number(0.01, 3650), 7, 7.0), (Number(0, 600), "600", 600.0)])
def test_a_number_is_itself(kind: WholeNumber | Number, text: object, number: float) -> None:
    assert kind.convert(text, None, None) == number


@pytest.mark.parametrize(("words", "said"), [(("check", "--timeout", "10s"), "'10s' is not a whole number from 1 to 600"), (("check", "--page-cache-seconds", "nan"), "'nan' is not a number from 0 to 600"), (("serve", "--history-days", "nan"), "'nan' is not a number from 0.01 to 3650"), (("serve", "--web.max-requests", "0"), "'0' is not a whole number from 1 to 1000"), (("record", "--maximum-rate", "1e3"), "'1e3' is not a whole number of 1 or more, with 15 digits at most")])
def test_commands_say_so(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stderr.endswith(f"Error: Invalid value for '{words[1]}': {said}\n")

"""What `trial engine` takes of the command line."""

import click
import pytest

from myisam_advisor.cli.engine_trial import expect_engine_options
from myisam_advisor.cli.replaying import CopyOptions
from myisam_advisor.cli.tried_changes import ReplayWish

COPY = CopyOptions(("shop.words",), 1 << 30, allow_lock=False)


def wish(**chosen: tuple[str, ...]) -> ReplayWish:
    return ReplayWish(**{"workload": None, "findings": (), "settings": (), "statements": (), "speed": "max", "interval": 0.0, "history_file": None, **chosen})  # type: ignore[arg-type]


def test_tables_alone_are_enough() -> None:
    expect_engine_options(wish(), COPY, "", None)


@pytest.mark.parametrize("chosen", [{"findings": ("pack-keys",)}, {"settings": ("a=1",)}, {"statements": ("ALTER TABLE t",)}])
def test_what_belongs_to_a_replay_is_refused(chosen: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(click.UsageError, match="belong to replay"):
        expect_engine_options(wish(**chosen), COPY, "", None)


def test_it_needs_a_table_and_no_column() -> None:
    with pytest.raises(click.UsageError, match="needs --table"):
        expect_engine_options(wish(), CopyOptions((), 1, allow_lock=False), "", None)
    with pytest.raises(click.UsageError, match="--column belongs to columns"):
        expect_engine_options(wish(), COPY, "name", None)

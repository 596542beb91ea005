"""Why tables cannot be copied, where the reason is the user's rights. Real servers' tables are in tests/servers/test_trial.py."""

import os
import tempfile
from pathlib import Path

import pytest

from myisam_advisor.cli.replaying import _expect_tables
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.tables.sources import find_copyable
from tests.support.apart import by_somebody_else

WORDS, GONE = ("shop", "words"), ("other", "gone")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_a_database_that_may_not_be_read_is_told_with_the_user_who_may() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        directory = Path(place)
        directory.chmod(0o755)
        for schema, mode in (("shop", 0o700), ("other", 0o755)):
            (directory / schema).mkdir(mode)

        def reasons() -> list[str]:
            with find_copyable(directory, [WORDS, GONE], 1 << 30, directory.stat().st_uid) as (sources, missing):
                assert sources == []
                return [missing[WORDS], missing[GONE]]

        unread, gone = by_somebody_else(reasons)
    assert unread == "shop.words: the files of this database cannot be read by this user: run as root or as the server's user"
    assert "there is no such table" in gone


def test_who_may_not_read_the_tables_is_not_sent_to_record_others() -> None:
    unread = {WORDS: "shop.words: the files of this database cannot be read by this user: run as root or as the server's user"}
    with pytest.raises(TrialError) as told:
        _expect_tables([], {GONE: "other.gone: there is no such table", **unread}, Path("w"))
    assert str(told.value) == f"w touches no MyISAM table that can be copied: {unread[WORDS]}."
    with pytest.raises(TrialError, match=r"there is no such table\. Record where MyISAM tables are read, on this server\."):
        _expect_tables([], {GONE: "other.gone: there is no such table"}, Path("w"))

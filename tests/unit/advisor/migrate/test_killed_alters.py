"""What a server that was killed in an ALTER leaves is told by the names of files, and how the table gets its own back."""

import re

import pytest

from myisam_advisor.migrate.killed_alters import KilledAlter, killed_alters, told
from myisam_advisor.migrate.server_kind import MARIADB, MYSQL, by_default

OLD = KilledAlter("shop", "#sql2-5c75-4", "#sql-5c75_4")
WAY_BACK = KilledAlter("shop", "#sql2-5c75-4", "#sql-5c75_4", goes_back=True)
BACKUP = KilledAlter("shop", "#sql-backup-7527-8", "#sql-alter-7527-8")


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["#sql2-5c75-4.MYI", "t.MYD", "t.frm", "#sql-5c75_4.frm", "#sql-5c75_4.ibd"], [OLD]),
        (["#sql2-5c75-4.MYD", "#sql2-5c75-4.MYI", "#sql2-5c75-4.frm", "t.ibd"], [OLD]),
        (["#sql2-5c75-4#P#p0.MYD", "#sql2-5c75-4#p#p0#sp#s.MYI"], [OLD]),
        (["#sql2-5c75-4.ibd", "#sql2-5c75-4.frm", "#sql-5c75_4.frm", "t.MYI", "t.MYD"], [WAY_BACK]),
        (["#sql2-5c75-4.ibd", "#sql2-5c75-4.frm", "#sql-5c75_4.frm", "#sql-5c75_4.ibd"], []),
        (["#sql-backup-7527-8.frm", "t.MYI", "t.MYD", "t.ibd"], [BACKUP]),
        (["#sql-backup-7527-8#P#p0.MYI", "t.frm", "t#P#p0.MYD"], [BACKUP]),
        # Of nothing but a copy that was not whole, of another engine, of another's files, and of a table that somebody named so.
        (["#sql-5c75_4.frm", "#sql-5c75_4.ibd", "#sql-5c75_4.MYI", "#sql2-x-y.MYI", "@0023sql2@002d5c75@002d4.MYI", "#sql2-5c75-4.MYI.old"], []),
    ],
)
def test_files_tell_of_it(files: list[str], found: list[KilledAlter]) -> None:
    assert killed_alters("shop", files) == found


def test_each_kind_of_server_has_its_way() -> None:
    name, by_dictionary = told(OLD, by_default(MYSQL, (9, 7)))
    assert name == "shop.`#sql2-5c75-4`"
    assert "RENAME TABLE `shop`.`#sql-5c75_4` TO `shop`.`NAME`;" in by_dictionary
    assert by_dictionary.endswith("Once NAME opens: DROP TABLE IF EXISTS `shop`.`#sql-5c75_4`, `shop`.`#sql2-5c75-4`;")
    by_files = told(OLD, by_default(MYSQL, (5, 6)))[1]
    assert "rename #sql-5c75_4.frm to NAME.frm" in by_files
    assert "DROP TABLE `shop`.`#mysql50##sql2-5c75-4`;" in by_files
    backup = told(BACKUP, by_default(MARIADB, (10, 5)))[1]
    assert "DROP TABLE `shop`.`#mysql50##sql-alter-7527-8`;" in backup
    assert re.search("If it is MyISAM, it was on the way back, and NAME.MYI and NAME.MYD are its rows: RENAME TABLE `shop`.`NAME` TO `shop`.`NAME_2`;", backup)
    # Whoever drops the old table before another opens has nothing left.
    assert all(re.search(r"^[^;]*Drop and remove none of it before", text) for text in (by_dictionary, by_files, backup))

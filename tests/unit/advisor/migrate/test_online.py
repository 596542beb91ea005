"""Where pt-online-schema-change is offered for a large table, and where it is said why it is not."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.online import beside_writers
from myisam_advisor.migrate.prediction import predict
from myisam_advisor.migrate.server_kind import ServerKind, by_default
from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_exporter.files.structure import Structure

from .test_migrate import MARIADB, OLD, index, integer, table, text

LARGE = Contents(10, 2 << 30, 1024, 0, "fixed")
KEYED = table(integer(), indexes=(index((0, 4), name="PRIMARY", unique=True),))
NULLABLE = table(replace(text("v"), nullable=True), indexes=(index((0, 255), unique=True),))
LINE = "pt-online-schema-change --alter 'ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0' D=s,t=big"


def told(structure: Structure, here: ServerKind = MARIADB, *, triggers: bool = False, merged: bool = False) -> list[str]:
    found = FoundTable(("s", "big"), structure, LARGE, merged_in=(("s", "m"),) if merged else (), triggers=triggers)
    (one,) = predict([found], "InnoDB", here, None, Machine())
    return list(beside_writers(one, here))


def test_a_table_with_a_key_gets_the_line() -> None:
    assert f"{LINE} --execute" in told(KEYED)
    assert told(KEYED)[-1].startswith("gh-ost does not fit")


@pytest.mark.parametrize("structure", [table(), table(indexes=(index((0, 4)),)), NULLABLE], ids=["no index", "none that is unique", "one of NULL"])
def test_one_without_gets_the_reason(structure: Structure) -> None:
    first, *others = told(structure)
    assert first == "pt-online-schema-change does not fit: it deletes by a primary or unique key of columns that are never NULL, and the table has none."
    assert [line.partition(" ")[0] for line in others] == ["gh-ost"]


def test_triggers_stop_it_where_an_event_has_room_for_one() -> None:
    assert told(KEYED, OLD, triggers=True)[0] == "pt-online-schema-change does not fit: the table has triggers, and MySQL 5.6 takes no more for the same event."
    for here in (MARIADB, by_default("mysql", (5, 7))):
        assert f"{LINE} --preserve-triggers --execute" in told(KEYED, here, triggers=True)


def test_a_member_of_a_merge_table_gets_the_reason() -> None:
    assert told(KEYED, merged=True)[0] == "pt-online-schema-change does not fit: the table is a member of a MERGE table."

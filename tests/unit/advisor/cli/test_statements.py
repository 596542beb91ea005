"""`--statements`: the watch ends with its command, and what it cannot tell takes nothing else away."""

import pytest

from myisam_advisor.cli.statements import seen_by
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.workload.kinds.seen import MyisamTables, SeenStatements
from myisam_exporter.errors import ServerLostError, UserError

FACTS = facts_from_document({"schema": 1, "tables": [{"schema_name": "forum", "table_name": "posts"}], "totals": {"myisam_tables": 1}})


class Watch:
    def __init__(self, error: UserError | None = None) -> None:
        self.error = error

    def take(self, tables: MyisamTables) -> SeenStatements:
        if self.error is not None:
            raise self.error
        return SeenStatements("a test", 3.0, notes=[str(sorted(tables.names, key=str))])

    def close(self) -> None:
        pass


def test_what_was_seen_is_held_against_the_tables() -> None:
    assert seen_by(Watch(), FACTS).notes == ["[('forum', 'posts')]"]


@pytest.mark.parametrize("error", [ServerLostError("lost the server."), UserError("the server that was watched has ended.")])
def test_what_cannot_be_told_is_a_note_of_the_report(error: UserError) -> None:
    seen = seen_by(Watch(error), FACTS)
    assert (seen.source, seen.kinds, seen.notes) == ("", (), (f"The statements could not be read: {error}",))

"""What is written with a table, and by a call: through views, triggers and routines that use each other."""

from typing import Any

from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.statements.definitions import FUNCTION, PROCEDURE, TRIGGER, VIEW, Definition
from myisam_advisor.trial.statements.made_definitions import make_definitions
from myisam_advisor.trial.statements.survey import Judging, survey
from tests.support.workloads import event

WORDS, LOG, AUDIT = ("shop", "words"), ("shop", "log"), ("shop", "audit")
COPIED = {WORDS, LOG, AUDIT}
VIEWED = Definition(VIEW, "shop", "named", "CREATE ALGORITHM=MERGE SQL SECURITY DEFINER VIEW `shop`.`named` AS select 1", uses=(WORDS,))
AFTER = Definition(TRIGGER, "shop", "after", "CREATE TRIGGER `after` AFTER INSERT", table="log", uses=(LOG, AUDIT), writes=True)
NOTE = Definition(PROCEDURE, "shop", "note", "CREATE PROCEDURE `note`() INSERT", uses=(LOG, ("shop", "Twice")), writes=True)
TWICE = Definition(FUNCTION, "shop", "twice", "CREATE FUNCTION `twice`() RETURN 1", uses=(WORDS,))


class Server:
    """Takes what it is told; what holds one of these words it refuses."""

    def __init__(self, *refused: str) -> None:
        self.made: list[str] = []
        self._refused = refused

    def execute(self, *statements: str, database: str = "") -> list[tuple[object, ...]]:
        if any(word in statements[-1] for word in self._refused):
            raise driver().error(1146, "no such table")
        self.made.append(statements[-1])
        return []


def made(server: Any, *definitions: Definition) -> Any:
    return make_definitions(server, definitions, COPIED)


def test_they_are_the_senders_own() -> None:
    server = Server()
    effects = made(server, VIEWED, AFTER, NOTE, TWICE)
    mine = "DEFINER=`replay`@`localhost`"
    assert server.made[0] == f"CREATE  {mine} FUNCTION `twice`() RETURN 1"
    assert f"CREATE ALGORITHM=MERGE {mine} SQL SECURITY DEFINER VIEW `shop`.`named` AS select 1" in server.made
    assert (set(effects.views), set(effects.routines)) == ({("shop", "named")}, {("shop", "note"), ("shop", "twice")})


def test_what_is_written_with_a_table_or_by_a_call_is_known() -> None:
    effects = made(Server(), VIEWED, AFTER, NOTE, TWICE)
    assert effects.also_written([LOG], []) == {LOG, AUDIT}
    assert effects.also_written([("shop", "named")], []) == {WORDS}
    assert effects.also_written([], [("shop", "note")]) == {LOG, AUDIT}
    assert effects.also_written([WORDS], [("shop", "twice"), ("shop", "max")]) == {WORDS}


def test_writes_of_triggers_and_procedures_count_for_the_tables_that_they_write() -> None:
    effects = made(Server(), VIEWED, AFTER, NOTE, TWICE)
    counted = effects.written_by({LOG: 400, ("shop", "named"): 3, ("shop", "own"): 2}, {("shop", "note"): 50, ("shop", "max"): 9})
    assert counted == {LOG: 450, AUDIT: 450, WORDS: 3, ("shop", "own"): 2}


def test_calls_are_counted_by_statement() -> None:
    calls = [event(1, number, b"CALL note()", 0) for number in range(3)]
    found = survey([*calls, event(1, 9, b"INSERT INTO log VALUES (Twice(1))", 0)], Judging())
    assert (found.called["shop", "note"], found.called["shop", "twice"]) == (3, 1)
    effects = made(Server(), AFTER, NOTE, TWICE)
    assert effects.written_by(found.written, found.called)[AUDIT] == 4


def test_what_is_not_there_takes_with_it_what_uses_it() -> None:
    outer = Definition(VIEW, "shop", "outer", "CREATE VIEW `shop`.`outer` AS select 1", uses=(("shop", "named"),))
    hidden = Definition(TRIGGER, "shop", "", table="words", problem="shop.words has triggers that may not be seen")
    gone = Definition(PROCEDURE, "shop", "gone", "CREATE PROCEDURE `gone`() SELECT", uses=(("shop", "kept"),))
    effects = made(Server("VIEW `shop`.`named`"), VIEWED, outer, hidden, gone, TWICE)
    assert set(effects.refused) == {("shop", "named"), ("shop", "outer")}
    assert "no such table (error 1146)" in effects.refused["shop", "outer"]
    assert list(effects.why_not({WORDS}, ())) == ["shop.words has triggers that may not be seen"]
    assert list(effects.why_not((), {("shop", "gone")})) == ["the procedure shop.gone uses shop.kept, which was not copied"]
    assert set(effects.routines) == {("shop", "twice")}

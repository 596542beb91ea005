import pytest

from myisam_advisor.trial.statements.definitions import (
    FUNCTION,
    PROCEDURE,
    TRIGGER,
    VIEW,
    Definition,
    does_untold,
    without_definer,
)
from myisam_advisor.workload.tokens import tokens


@pytest.mark.parametrize(
    ("create", "bare"),
    [
        ("CREATE DEFINER=`root`@`localhost` PROCEDURE `p`() SELECT 1", "CREATE PROCEDURE `p`() SELECT 1"),
        ("CREATE ALGORITHM=MERGE DEFINER=`a``b`@`%` SQL SECURITY INVOKER VIEW `v` AS select 1", "CREATE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW `v` AS select 1"),
        ('CREATE DEFINER="root"@"localhost" TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a = 1', "CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a = 1"),
        ("CREATE DEFINER=`a role` FUNCTION f() RETURNS INT RETURN 1", "CREATE FUNCTION f() RETURNS INT RETURN 1"),
        ("CREATE DEFINER=`root`@`localhost` AGGREGATE FUNCTION f(x INT) RETURNS INT", "CREATE AGGREGATE FUNCTION f(x INT) RETURNS INT"),
        ("CREATE DEFINER=`root`@`localhost` EVENT e ON SCHEDULE EVERY 1 SECOND DO SELECT 1", ""),
        ("GRANT ALL ON *.* TO x; CREATE DEFINER=`root`@`localhost` VIEW v AS SELECT 1", ""),
        ("CREATE FUNCTION f RETURNS STRING SONAME 'x.so'", ""),
    ],
)
def test_a_definition_is_taken_without_its_definer_and_nothing_else_is(create: str, bare: str) -> None:
    assert without_definer(create) == bare


@pytest.mark.parametrize(
    ("create", "says"),
    [
        ("CREATE PROCEDURE p() BEGIN DROP TABLE hits; CREATE TABLE hits (a INT); END", "changes definitions"), ("CREATE PROCEDURE p() alter table hits engine=myisam", "changes definitions"),
        ("CREATE PROCEDURE p() BEGIN PREPARE s FROM @s; EXECUTE s; DROP PREPARE s; END", "runs prepared statements"),
        ("CREATE PROCEDURE p() BEGIN DROP TEMPORARY TABLE IF EXISTS x; CREATE TEMPORARY TABLE x SELECT `drop` FROM hits; INSERT INTO log SELECT * FROM x; END", ""),
        ("CREATE FUNCTION f() RETURNS INT RETURN 'drop table x'", ""), ("CREATE PROCEDURE p() CREATE OR REPLACE TEMPORARY TABLE x SELECT t.rename FROM hits AS t", ""),
        ("CREATE PROCEDURE p() BEGIN DECLARE execute INT; SELECT n.execute = 1 FROM n; END", ""), ("CREATE PROCEDURE p() CREATE OR REPLACE TABLE x (a INT)", "changes definitions"),
    ],
)  # fmt: skip
def test_a_routine_that_changes_definitions_is_not_taken_over(create: str, says: str) -> None:
    assert does_untold(tokens(create.encode())).startswith(says)
    assert bool(does_untold(tokens(create.encode()))) == bool(says)


@pytest.mark.parametrize(("kind", "name"), [(PROCEDURE, "add"), (FUNCTION, "add"), (VIEW, "Add"), (TRIGGER, "Add")])
def test_names_of_routines_alone_have_no_case(kind: str, name: str) -> None:
    assert Definition(kind, "Shop", "Add").key == ("Shop", name)

"""What a table is made of is told alike from its file, as a trial reads it, and from facts, as `check` does; and is another one after an ALTER."""

from contextlib import ExitStack

from myisam_advisor.proofs.structures import structure_of, structures_in
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.tables.sources import INDEX, find_named, header_of

from .conftest import look, schema

TABLES = {
    "plain": "a INT NOT NULL",
    "keys": "a INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b CHAR(20), c VARCHAR(40), KEY (b), UNIQUE (c, a), KEY (a, b(5))",
    "texts": "a INT NOT NULL, b TEXT, c BLOB, KEY (b(10)), FULLTEXT (b)",
    "packed": "a CHAR(30) NOT NULL, KEY (a)",
}
SAME = ("ALTER TABLE made.`keys` DISABLE KEYS", "INSERT INTO made.`keys` (b) VALUES ('x')", "ALTER TABLE made.`keys` ENABLE KEYS", "OPTIMIZE TABLE made.`keys`", "ALTER TABLE made.`keys` CHANGE b other CHAR(20)")
OTHER = (
    ("plain", "ALTER TABLE made.plain ADD INDEX (a)"), ("plain", "ALTER TABLE made.plain ADD COLUMN b INT"), ("keys", "ALTER TABLE made.`keys` DROP INDEX c"),
    ("keys", "ALTER TABLE made.`keys` ROW_FORMAT=FIXED"), ("packed", "ALTER TABLE made.packed PACK_KEYS=0"), ("texts", "ALTER TABLE made.texts ADD COLUMN d TEXT"),
)  # fmt: skip


def structures(server: PrivateServer) -> dict[str, str]:
    server.execute("FLUSH TABLES")
    names = [f"made.{name}" for name in TABLES]
    with ExitStack() as stack:
        sources, missing = stack.enter_context(find_named(server.data_directory, names, 1 << 30, None))
        by_file = {one.label: structure_of(header_of(one.label, one.file(INDEX).descriptor)) for one in sources}
    assert not missing
    by_facts = structures_in(look(server), sorted(by_file))
    assert by_file == by_facts
    assert len(by_file) == len(TABLES)
    return {source.table: by_file[source.label] for source in sources}


def test_a_table_is_another_after_an_alter_and_no_other_for_what_comes_and_goes(server: PrivateServer) -> None:
    with schema(server, "made"):
        for name, columns in TABLES.items():
            server.execute(f"CREATE TABLE made.`{name}` ({columns}) ENGINE=MyISAM {'PACK_KEYS=1' if name == 'packed' else ''}")
        then = structures(server)
        server.execute(*SAME)
        assert structures(server) == then
        for name, statement in OTHER:
            server.execute(statement)
            now = structures(server)
            assert {one for one in TABLES if now[one] != then[one]} == {name}, statement
            then = now

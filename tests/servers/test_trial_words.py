"""A copy of a table with a FULLTEXT index is written under the same words as the table: under others its server finds the index damaged."""

import shutil
from pathlib import Path

import pytest
from MySQLdb import Error

from myisam_advisor.trial.statements.watched import replay_settings
from tests.support.servers import CopiedServer, binaries_of

TEXTS = "(1, 'The quick brown fox jumps about where the lazy dog is'), (2, 'Another text is hereby written where words mean nothing'), (3, 'plain words')"
CHANGES = ("UPDATE words.t SET v = 'other words about it' WHERE a = 1", "DELETE FROM words.t WHERE a = 2")


@pytest.mark.parametrize("option", ["--ft-stopword-file={own}", "--ft-min-word-len=6"])
@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def test_a_copy_is_written_under_the_same_words(name: str, option: str, tmp_path: Path) -> None:
    own = Path("/tmp") / f"stopwords-{tmp_path.name}"  # where every user may read it, as a private server's user must
    own.write_text("quick brown written nothing plain\n")
    own.chmod(0o644)
    try:
        with CopiedServer(binaries_of(name), [option.format(own=own)]) as watched:
            watched.execute("CREATE DATABASE words", "CREATE TABLE words.t (a INT, v TEXT, KEY (a), FULLTEXT KEY (v)) ENGINE=MyISAM", f"INSERT INTO words.t VALUES {TEXTS}", "FLUSH TABLES")
            kept = shutil.copytree(watched.data_directory / "words", tmp_path / "words")
            settings = replay_settings(watched.variables())
            definition = watched.execute("SHOW CREATE TABLE words.t")[0][1]
        without = [one for one in settings if not one.startswith("--ft-")]
        assert len(settings) > len(without)
        for words, fails in ((settings, False), (without, True)):
            with CopiedServer(binaries_of(name), words) as private:
                private.execute("CREATE DATABASE words")
                private.execute(str(definition), "FLUSH TABLES", database="words")
                for file in kept.glob("t.MY?"):
                    copy = private.data_directory / "words" / file.name
                    shutil.copyfile(file, copy)
                    private.give_away(copy)
                if fails:
                    with pytest.raises(Error, match=r"126|1034"):
                        private.execute(*CHANGES)
                    continue
                private.execute(*CHANGES)
                assert private.execute("SELECT a FROM words.t ORDER BY a") == [(1,), (3,)]
                assert [row[3] for row in private.execute("CHECK TABLE words.t EXTENDED")] == ["OK"]
    finally:
        own.unlink()

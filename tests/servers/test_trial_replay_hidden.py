"""A replay ends where a run wrote a table and no statement said so: later runs would begin with other rows than earlier ones."""

import time
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support import workloads

from .conftest import schema
from .trials import fails, measured, temporary

__all__ = ["temporary"]  # a fixture that tests of a trial share
MERGE = (
    b"CREATE TEMPORARY TABLE m (id INT NOT NULL, name VARCHAR(40) NOT NULL, KEY (id)) ENGINE=MERGE UNION=(words) INSERT_METHOD=LAST",
    b"DELETE FROM m WHERE id > 50",
)
QUOTED = (b"SET sql_mode = 'ANSI_QUOTES'", b'UPDATE log l, "words" w SET w.name = \'other\' WHERE w.id > 50')
SAID = (b"CREATE TEMPORARY TABLE m LIKE words", b"INSERT INTO m SELECT * FROM words", b"DELETE FROM m", b"UPDATE log l, words w SET l.what = w.name WHERE w.id = l.id")


@pytest.mark.parametrize("statements", [MERGE, QUOTED, SAID], ids=["merge", "quoted", "said"])
def test_a_write_that_no_words_tell_ends_it(server: PrivateServer, temporary: Path, tmp_path: Path, statements: tuple[bytes, ...]) -> None:
    events = [workloads.event(7, number * 1000, text, None) for number, text in enumerate(statements)]
    events += [workloads.event(5, 10_000 + number * 1000, b"SELECT name FROM words WHERE id = %d" % number, 1) for number in range(1, 100)]
    path = workloads.write(tmp_path / "w", events, began=int(time.time() * 1e6))
    with schema(server, "shop"):
        server.execute(
            "CREATE TABLE words (id INT NOT NULL, name VARCHAR(40) NOT NULL, KEY (id)) ENGINE=MyISAM",
            "CREATE TABLE log (id INT NOT NULL, what VARCHAR(40)) ENGINE=MyISAM",
            f"INSERT INTO words VALUES {','.join(f'({number}, 1)' for number in range(1, 100))}",
            "INSERT INTO log VALUES (1, 'x')",
            "FLUSH TABLES",
            database="shop",
        )
        words = ("replay", "--workload", path, "-S", server.socket, "-u", "root", "--interval", "0", "--set", "key_buffer_size=1M", "--rounds", "1")
        if statements is SAID:
            assert measured(temporary, *words)["fidelity"]["rows_differ"] == 0
        else:
            fails(temporary, "`shop`.`words` was written by a run, and the words of no statement say so", *words)

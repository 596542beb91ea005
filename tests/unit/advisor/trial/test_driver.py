"""Which library private servers are asked by."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from myisam_advisor.trial.private import driver as module
from myisam_advisor.trial.private.driver import Driver, Mysqlclient, PyMySQL, driver

SAID = "import sys; from myisam_advisor.trial.private.driver import driver; print(type(driver()).__name__, 'MySQLdb' in sys.modules, 'pymysql' in sys.modules)"


def test_mysqlclient_is_taken_where_it_is_installed() -> None:
    assert isinstance(driver(), Mysqlclient)
    assert driver() is driver()


@pytest.mark.parametrize("words", ["raise ImportError('libmariadb.so.3: cannot open shared object file')", "import no_such_library"])
def test_a_library_that_cannot_be_loaded_is_not_taken(words: str, tmp_path: Path) -> None:
    (tmp_path / "MySQLdb.py").write_text(words)
    done = subprocess.run([sys.executable, "-c", SAID], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True)
    assert done.stdout == "PyMySQL False False\n"


def test_errors_are_the_librarys_own() -> None:
    import MySQLdb
    import pymysql

    assert (Mysqlclient().error, PyMySQL().error) == (MySQLdb.Error, pymysql.Error)


def test_what_is_imported_ahead_is_there() -> None:
    for one in (Mysqlclient(), PyMySQL()):
        for folder in one.folders:
            __import__(folder)
            assert sys.modules[folder].__path__


@pytest.mark.parametrize("library", [Mysqlclient(), PyMySQL()])
def test_a_server_that_accepts_and_says_nothing_is_not_waited_for_without_end(library: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT_SECONDS", 1)
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        with pytest.raises(library.error):
            library.connect(path)

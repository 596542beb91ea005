"""The package's service on a system: started with its files as they are, with its account, drop-ins and words, and what its process may do."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.e2e.debian import System
from tests.e2e.intrusion import SERVICE


def restart(system: System, *units: str) -> None:
    """With their files as they are now, however often that was done before."""
    system.run("systemctl", "daemon-reload")
    system.run("systemctl", "reset-failed", *units)
    system.run("systemctl", "restart", *units)


def make_account(system: System) -> None:
    """As the program prints it."""
    system.run("mariadb", text=system.run("myisam-advisor", "grants", "--user", "root"))
    restart(system, SERVICE)


def drop_account(system: System) -> None:
    system.run("mariadb", text="DROP USER IF EXISTS 'myisam-advisor'@'localhost'")
    restart(system, SERVICE)


@contextmanager
def drop_in(system: System, name: str, text: str, *units: str) -> Iterator[None]:
    """A drop-in of the first of the units (the service), which were started with it; it is gone afterwards."""
    units = units or (SERVICE,)
    file = f"/etc/systemd/system/{units[0]}.d/{name}.conf"
    system.run("install", "-D", "-m", "0644", "/dev/stdin", file, text=text)
    try:
        restart(system, *units)
        yield
    finally:
        system.run("rm", file)
        restart(system, *units)


@contextmanager
def words_of_the_service(system: System, words: str) -> Iterator[None]:
    """They stand in /etc/default while this lasts; who wants them heard starts the service."""
    file = system.root / "etc/default/myisam-advisor"
    shipped = file.read_text()
    assert 'ARGS=""' in shipped
    file.write_text(shipped.replace('ARGS=""', f'ARGS="{words}"'))
    try:
        yield
    finally:
        file.write_text(shipped)
        restart(system, SERVICE)


def main_process(system: System) -> str:
    return system.run("systemctl", "show", "--property=MainPID", "--value", SERVICE).strip()


def capabilities(system: System, service: str) -> int:
    pid = system.run("systemctl", "show", "--property=MainPID", "--value", service).strip()
    line = next(line for line in system.run("cat", f"/proc/{pid}/status").splitlines() if line.startswith("CapEff"))
    return int(line.split()[1], 16)


def rights(system: System, status: int, *words: str) -> str:
    done = system.attempt("myisam-advisor", "rights", *words)
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout


def doctor(system: System, *privileges: str) -> str:
    words = ("--reuid=myisam-advisor", "--regid=myisam-advisor", *(privileges or ("--clear-groups", "--inh-caps=-all")))
    return system.attempt("setpriv", *words, "myisam-advisor", "doctor").stdout

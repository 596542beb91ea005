"""What a server is called for people."""

import pytest

from myisam_exporter.server.version_number import product_and_version


@pytest.mark.parametrize(("flavour", "version", "called"), [
    ("mariadb", "11.4.5-MariaDB", "MariaDB 11.4.5"), ("mariadb", "10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11.19-0+deb12u1"),
    ("mariadb", "10.6.5-MariaDB-log", "MariaDB 10.6.5-log"), ("mysql", "9.7.4-2", "MySQL 9.7.4-2"), ("percona", "8.0.36-28", "Percona Server 8.0.36-28"),
    (None, "11.4.5-MariaDB", "server 11.4.5-MariaDB"),
])  # fmt: skip
def test_a_product_is_named_once(flavour: object, version: str, called: str) -> None:
    assert product_and_version(flavour, version) == called

"""Servers that Amazon runs (RDS and Aurora): no option file, no shell, no SET GLOBAL, and nobody sees their machine.

Source: Amazon RDS User Guide, "Working with DB parameter groups" and "Amazon CloudWatch metrics for Amazon RDS".
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_exporter.facts.columns import Value

IN_PARAMETER_GROUP = (
    "This server runs on Amazon RDS, which has no my.cnf and refuses SET GLOBAL (error 1227): set the variables in its parameter group, "
    "and reboot the instance where a restart is asked for."
)
IN_PARAMETER_GROUP_BACK = "Give the parameter group its former values again."
_DIRECTORIES = ("/rdsdbdata/", "/rdsdbbin/")


def is_of_amazon(server: Mapping[str, Value], variables: Mapping[str, Value]) -> bool:
    """Whether its directories are those that Amazon gives it; whoever published the variables of a server did not fill in its data directory.

    Whoever sees its files stands on its machine, which is nobody else's then: directories may keep their names when a server moves.
    """
    if server.get("local") == 1:
        return False
    paths = (server.get("data_directory"), variables.get("datadir"), variables.get("basedir"))
    return any(str(path or "").startswith(_DIRECTORIES) for path in paths)

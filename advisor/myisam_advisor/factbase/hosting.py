"""Where a server runs, as its variables tell, and how the texts of remedies speak of that: on a machine of one's own, at Amazon's, under Windows.

Rules, planners and the gate speak of my.cnf, of SET GLOBAL and of Linux. Every text of a finding passes `said`, which has the words for the same thing
elsewhere; what holds on Linux alone, and for which there is no other word, rules leave out where `on_linux` or `takes_set_global` is not set.

Sources: Amazon RDS User Guide, "Working with DB parameter groups" (not every parameter can be changed), "Parameters for MySQL", "Parameters for MariaDB",
"Amazon CloudWatch metrics for Amazon RDS"; MySQL manual, "Using Option Files" (my.ini on Windows).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from myisam_exporter.declaring.late_patterns import late_pattern
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.unknown import Unknown

MY_CNF = "my.cnf"
IN_PARAMETER_GROUP = (
    "This server runs on Amazon RDS, which refuses SET GLOBAL (error 1227): set the variables in its parameter group, as far as Amazon lets you change them, "
    "and reboot the instance where a restart is asked for."
)
IN_PARAMETER_GROUP_BACK = "Give the parameter group its former values again."
_DIRECTORIES = ("/rdsdbdata/", "/rdsdbbin/")
_SET_GLOBAL = late_pattern(r"\bSET GLOBAL (\w+) = ('[^']*'|\w+(?:\.\d+)?);?")
# What can be had on the server's machine only; other ways stand behind an "or".
_ON_ITS_MACHINE = late_pattern(
    r"beside the server|own host|\bsudo\b|\bas root\b|data directory|server's own user|\.(?:MYI|frm)\b"
)
_OR = late_pattern(r"[,;]? or (?=with |switch )|; or ")


@dataclass(frozen=True, slots=True)
class Hosting:
    """One kind of place. `settings` is where variables are set for good, in words, and `label` the same in a word.

    `nobody` says why nobody can do there what asks for the server's machine; empty where somebody can.
    """

    settings: str = MY_CNF
    label: str = MY_CNF
    takes_set_global: bool = True
    nobody: str = ""

    @property
    def on_linux(self) -> bool:
        """Whether somebody may work on the machine as on Linux: nothing tells otherwise."""
        return not self.nobody

    def said(self, text: str) -> str:
        """A text for people, as it is to be read there."""
        if self == HERE:
            return text
        if not self.takes_set_global:
            text = _SET_GLOBAL.sub(rf"\1 = \2 in {self.settings}", text)
        return text.replace(MY_CNF, self.settings)

    def known_way(self, why: Unknown) -> Unknown:
        """Why a fact is not known, without a remedy that nobody can carry out there."""
        way = self.way(why.remedy)
        return why if way == why.remedy else replace(why, remedy="" if way == self.nobody else way)

    def way(self, how: str) -> str:
        """How to have a fact, without what nobody can do there; who keeps them off it where nothing is left."""
        if not self.nobody or not _ON_ITS_MACHINE.search(how):
            return self.said(how)
        ways = [one for one in _OR.split(how) if not _ON_ITS_MACHINE.search(one)]
        return self.said("; or ".join(ways)) if ways else self.nobody


HERE = Hosting()
AMAZON = Hosting(
    "the parameter group", "parameters", takes_set_global=False, nobody="Amazon lets nobody onto the machine"
)
WINDOWS = Hosting("my.ini", "my.ini", nobody="this program sees the machines of Linux servers only")


def hosting_of(server: Mapping[str, Value], variables: Mapping[str, Value]) -> Hosting:
    """Where it runs: at Amazon's by its directories, which whoever published a server's variables need not have filled in, under Windows as it says itself.

    Whoever sees its files stands on its machine, which is a Linux machine and nobody else's then: directories may keep their names when a server moves.
    """
    if server.get("local") == 1:
        return HERE
    paths = (server.get("data_directory"), variables.get("datadir"), variables.get("basedir"))
    if any(str(path or "").startswith(_DIRECTORIES) for path in paths):
        return AMAZON
    return WINDOWS if str(variables.get("version_compile_os") or "").lower().startswith("win") else HERE

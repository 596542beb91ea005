"""Where a server runs, and what is said there: at Amazon's is no my.cnf, no SET GLOBAL and no machine to work on; under Windows is no Linux."""

from dataclasses import replace

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.cli.examination import _examined
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.hosting import (
    AMAZON,
    HERE,
    IN_PARAMETER_GROUP,
    IN_PARAMETER_GROUP_BACK,
    WINDOWS,
    Hosting,
    hosting_of,
)
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.price import price_of
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.key_caches import CacheIndex, LoadIndex
from myisam_advisor.remedies.statements.tables import OptimizeTable
from myisam_advisor.remedies.statements.variables import set_global
from myisam_exporter.collectors import host
from myisam_exporter.facts.unknown import Unknown

from .test_remedy_gate import TABLE, admitted

RDS = {"data_directory": "/rdsdbdata/db/"}


@pytest.mark.parametrize("server", [RDS, {"data_directory": "/var/lib/mysql/"}, {}])
def test_variables_are_set_in_the_parameter_group_there_and_nowhere_else(server: dict[str, str]) -> None:
    of_a_variable = [
        admitted(set_global("key_buffer_size", 9), server=server),
        admitted(my_cnf=(option_line("key_buffer_size", 9),), server=server),
    ]
    assert [IN_PARAMETER_GROUP in one.cost for one in of_a_variable] == [server is RDS] * 2
    assert IN_PARAMETER_GROUP not in admitted(OptimizeTable(TABLE), server=server).cost


def test_no_statement_is_offered_there_that_the_server_refuses() -> None:
    """SET GLOBAL ends with error 1227 there: what it would set is a line of the parameter group, each once."""
    found = admitted(set_global("thread_cache_size", 16), OptimizeTable(TABLE), my_cnf=(option_line("thread_cache_size", 16),), server=RDS)
    assert [one.verb for one in found.remedy.commands if hasattr(one, "verb")] == ["OPTIMIZE TABLE"]
    assert (found.remedy.my_cnf, found.remedy.label) == (("thread_cache_size = 16",), "parameters")
    assert (found.remedy.at_once, price_of(Remedy(my_cnf=found.remedy.my_cnf, at_once=found.remedy.at_once), PlanFacts(complete(facts_from_document({"schema": 1})))).needs_restart) == ({"thread_cache_size"}, False)
    assert admitted(set_global("thread_cache_size", 16), server=RDS).my_cnf_undo == IN_PARAMETER_GROUP_BACK


def test_key_caches_with_names_are_not_made_there_and_nothing_is_put_into_them() -> None:
    commands = (set_global("key_buffer_size", 8 << 20, "hot"), CacheIndex(TABLE, "hot"), LoadIndex(TABLE))
    lines = (option_line("key_buffer_size", 8 << 20, "hot"), option_line("init_file", "/etc/mysql/caches.sql"))
    found = admitted(*commands, my_cnf=lines, server=RDS)
    assert (found.remedy.commands, found.remedy.my_cnf) == ((), ())
    assert found.instead[0].startswith("No key caches with names on Amazon RDS")
    elsewhere = admitted(*commands, my_cnf=lines, server={})
    assert (len(elsewhere.remedy.commands), len(elsewhere.remedy.my_cnf)) == (3, 2)


@pytest.mark.parametrize(
    ("server", "variables", "hosting"),
    [
        ({"data_directory": "/rdsdbdata/db/"}, {}, AMAZON),
        ({}, {"datadir": "/rdsdbdata/db/"}, AMAZON),
        ({}, {"basedir": "/rdsdbbin/mariadb-10.11.8.R1/"}, AMAZON),
        ({"data_directory": None}, {"datadir": "/var/lib/mysql/", "basedir": "/usr/"}, HERE),
        ({}, {"datadir": "/srv/rdsdbdata/"}, HERE),
        # Moved away from there with all its paths.
        ({"data_directory": "/rdsdbdata/db/", "local": 1}, {"datadir": "/rdsdbdata/db/"}, HERE),
        ({"data_directory": "/rdsdbdata/db/", "local": 0}, {}, AMAZON),
        # MySQL 5.6 of 32 bits, MariaDB and MySQL of 64, and Darwin, which is none.
        ({}, {"version_compile_os": "Win32"}, WINDOWS),
        ({}, {"version_compile_os": "Win64"}, WINDOWS),
        ({"local": 1}, {"version_compile_os": "Win64"}, HERE),
        ({}, {"version_compile_os": "darwin10.0"}, HERE),
        ({}, {"version_compile_os": "Linux"}, HERE),
        ({}, {"version_compile_os": None}, HERE),
    ],
)
def test_its_variables_tell(server: dict[str, str | None], variables: dict[str, str], hosting: Hosting) -> None:
    assert hosting_of(server, variables) == hosting


@pytest.mark.parametrize(
    ("text", "at_amazon"),
    [
        ("SET GLOBAL concurrent_insert = 'AUTO';", "concurrent_insert = 'AUTO' in the parameter group"),
        ("First SET GLOBAL table_open_cache = 348. Then", "First table_open_cache = 348 in the parameter group. Then"),
        ("SET GLOBAL long_query_time = 0.5, or more", "long_query_time = 0.5 in the parameter group, or more"),
        ("Put the line back into my.cnf.", "Put the line back into the parameter group."),
        ("SET GLOBAL may queue behind it, too.", "SET GLOBAL may queue behind it, too."),
    ],
)
def test_the_same_thing_has_another_word_there(text: str, at_amazon: str) -> None:
    assert AMAZON.said(text) == at_amazon
    assert WINDOWS.said(text) == text.replace("my.cnf", "my.ini")
    assert HERE.said(text) == text


@pytest.mark.parametrize(
    ("how", "at_amazon"),
    [
        ("on the server's own host: sudo myisam-advisor check", AMAZON.nobody),
        ("run beside the server, with the right to read its data directory, or with --interval 1min", "with --interval 1min"),
        ("run beside the server, with the right to read its data directory; or switch performance_schema (MySQL) or userstat (MariaDB) on", "switch performance_schema (MySQL) or userstat (MariaDB) on"),
        ("run again with --interval 1min", "run again with --interval 1min"),
        ("SET GLOBAL userstat = ON;", "userstat = ON in the parameter group"),
        ("", ""),
    ],
)  # fmt: skip
def test_no_way_to_a_fact_leads_onto_a_machine_that_nobody_enters(how: str, at_amazon: str) -> None:
    assert AMAZON.way(how) == at_amazon
    assert HERE.way(how) == how


@pytest.mark.parametrize(("remedy", "there"), [("run beside the server", ""), ("run beside the server, or with --interval 1min", "with --interval 1min"), ("--interval 10s", "--interval 10s")])
def test_facts_have_no_remedy_that_nobody_can_carry_out(remedy: str, there: str) -> None:
    """`facts`, `top`, `table` and the notes of `check` show it, and nothing judged it."""
    facts = facts_from_document({"schema": 1, "server": RDS})
    unknown = Unknown("its machine cannot be seen", remedy)
    known = complete(replace(facts, unknown={"host.cpu_count": unknown}, notes=[unknown]))
    assert [why.remedy for why in (known.unknown["host.cpu_count"], *known.notes)] == [there, there]
    here = complete(replace(facts_from_document({"schema": 1}), unknown={"host.cpu_count": unknown}))
    assert here.unknown["host.cpu_count"] is unknown


def test_doctor_sends_nobody_onto_that_machine() -> None:
    far = Unknown("the server is on another host", "run myisam-advisor beside the server")
    examined = _examined(host.COLLECTOR, far, 0.1, shipped_rules(), AMAZON)
    assert [problem.remedy for problem in examined.problems] == [""]
    assert [problem.remedy for problem in _examined(host.COLLECTOR, far, 0.1, shipped_rules(), HERE).problems] == [far.remedy]

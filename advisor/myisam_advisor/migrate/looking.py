"""One look for a migration: the server's variables and engines, the files of its tables, the foreign keys that refer to them. No table is opened."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from myisam_advisor.catalogue.conversions import NO_RATES, Rates
from myisam_advisor.migrate.foreign_look import with_foreign_keys
from myisam_advisor.migrate.killed_alters import told
from myisam_advisor.migrate.prediction import Migration, in_order, left_alone, predict
from myisam_advisor.migrate.repeated_members import with_repeated_members
from myisam_advisor.migrate.replication import is_replica
from myisam_advisor.migrate.server_kind import (
    INNODB,
    MARIADB,
    MYSQL,
    ServerKind,
    expect_later,
    of_variables,
    target_kind,
    with_engines,
)
from myisam_advisor.migrate.server_plugins import Plugins, of_rows
from myisam_advisor.migrate.table_spaces import named_tablespace
from myisam_advisor.migrate.tables import FoundTable, find_tables
from myisam_advisor.migrate.times import Machine
from myisam_advisor.proofs.proof import server_key
from myisam_exporter.collectors.disk_space import temporary_space
from myisam_exporter.collectors.host import read_host
from myisam_exporter.collectors.schema_disks import own_disks
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.file_names import decode_schema, decode_table
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.outside.free_space import free_bytes_at
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.location import locate
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import statement

MOST_SHARED_TABLES = 5_000


def looked_at(
    session: Session,
    asked: Sequence[str],
    to: str,
    target: str | None,
    proc: Path,
    rates: Rates = NO_RATES,
    databases: Collection[str] | None = None,
) -> Migration:
    """The migration of what was asked for. Raises UserError where the files cannot be seen, or there is no such target.

    `databases` are the only ones to look into, for whoever asks for errors alone: what MERGE tables of others lose is not told.
    """
    flavour = MARIADB if session.version.flavour == MARIADB else MYSQL
    later = target_kind(target, flavour) if target is not None else None
    variables = _variables(session)
    here = with_engines(of_variables(flavour, session.version.number[:2], variables), _engines(session))
    here = replace(here, plugins=_plugins(session))
    if later is not None:
        expect_later(later, here)
    location = locate(
        variables, session.status_number("Uptime"), session.peer_process(), session.target.may_be_local, proc
    )
    directory = location.data_directory
    if isinstance(directory, Unknown):
        raise UserError(
            f"the definitions of the tables cannot be read: {directory.reason}. {_remedy(directory)}"
            "Nothing is asked of information_schema instead: it would open every table."
        )
    try:
        folds = variables.get("lower_case_table_names", "0") != "0"
        found = find_tables(directory, location.owner, asked, folds=folds, databases=databases)
    except OSError as error:
        raise UserError(
            f"{directory} cannot be read ({error.strerror}): run as root, or as the server's user."
        ) from None
    found.tables = _with_members_in_shared_files(found.tables, here, session)
    here = with_repeated_members(_with_tablespaces(here, found.tables, session), found.tables, session)
    if later is not None:
        later = replace(later, repeated_members=here.repeated_members)
    tables, unknown = found.tables, ""
    if to == INNODB:
        tables, unknown = with_foreign_keys(found.tables, session, here, directory, location.owner)
    cache = "innodb_buffer_pool_size" if to == INNODB else "aria_pagecache_buffer_size"
    cache_bytes = whole_number(variables.get(cache))
    free_bytes = _free_bytes(directory)
    own = _own_disks(directory, location.owner)
    server = server_key(variables.get("hostname"), variables.get("port"), variables.get("datadir"))
    machine = Machine(
        _available_bytes(directory, proc),
        cache_bytes,
        rates,
        time.time(),
        free_bytes,
        server,
        own,
        _temporary_free_bytes(variables, location.pid, proc),
    )
    predictions = predict(tables, to, here, later, machine)
    idle = {one.name: one.idle_seconds for one in found.tables if one.idle_seconds is not None}
    return Migration(
        here=here,
        target=later,
        to=to,
        predictions=tuple(predictions),
        order=in_order(predictions, idle),
        left_out=(*found.left_out, *left_alone(found.tables)),
        key_buffer_bytes=whole_number(variables.get("key_buffer_size")),
        cache_bytes=cache_bytes,
        disk_free_bytes=free_bytes,
        not_found=tuple(found.not_found),
        foreign_keys_unknown=unknown,
        killed=tuple(told(one, here) for one in found.killed),
        is_replica=is_replica(session),
        own_disks=own,
        merges=found.merges,
        data_directory=directory,
    )


def _remedy(directory: Unknown) -> str:
    return f"Remedy: {directory.remedy}. " if directory.remedy else ""


def _variables(session: Session) -> Mapping[str, str]:
    rows = session.rows_or_unknown("SHOW GLOBAL VARIABLES", 2)
    if isinstance(rows, Unknown):
        raise UserError(f"the server's variables cannot be read: {rows.reason}.")
    return {name or "": value or "" for name, value in rows}


def _engines(session: Session) -> Mapping[str, str]:
    """What the server says of each engine; of those that are off, no variable of a later version than MySQL 5.5 tells."""
    rows = session.records_or_unknown("SHOW ENGINES")
    if isinstance(rows, Unknown):
        return {}
    return {row.get("Engine") or "": row.get("Support") or "" for row in rows}


def _plugins(session: Session) -> Plugins | None:
    rows = session.records_or_unknown("SHOW PLUGINS")
    return None if isinstance(rows, Unknown) else of_rows(rows)


def _with_tablespaces(kind: ServerKind, tables: Sequence[FoundTable], session: Session) -> ServerKind:
    """They are asked for where a table names one."""
    if not any(named_tablespace(one.structure, kind) for one in tables):
        return kind
    rows = session.rows_or_unknown(
        "SELECT NAME FROM information_schema.INNODB_TABLESPACES WHERE SPACE_TYPE = 'General'", 1
    )
    return kind if isinstance(rows, Unknown) else replace(kind, tablespaces=tuple(row[0] or "" for row in rows))


def _with_members_in_shared_files(tables: Sequence[FoundTable], kind: ServerKind, session: Session) -> list[FoundTable]:
    """Without those that are not gone: MySQL 8.0 and later keep a table of a shared tablespace without any file of its own. The dictionary tells, to PROCESS."""
    if not kind.keeps_dictionary or not any(one.gone for one in tables):
        return list(tables)
    rows = session.rows_or_unknown(
        statement(
            "SELECT NAME FROM information_schema.INNODB_TABLES WHERE SPACE_TYPE <> 'Single' LIMIT {}",
            MOST_SHARED_TABLES,
        ),
        1,
    )
    names = [] if isinstance(rows, Unknown) else [(row[0] or "").partition("/") for row in rows]
    shared = {(decode_schema(schema), decoded[0]) for schema, _, table in names if (decoded := decode_table(table))}
    return [replace(one, gone=tuple(member for member in one.gone if member not in shared)) for one in tables]


def _available_bytes(directory: Path, proc: Path) -> float | None:
    sample = read_host(proc, Path("/sys"), directory)
    return None if isinstance(sample, Unknown) else float(sample.memory_available_bytes)


def _temporary_free_bytes(variables: Mapping[str, str], pid: int | Unknown, proc: Path) -> float | None:
    found = temporary_space(variables.get("tmpdir", ""), pid, proc)
    return None if isinstance(found, Unknown) else found.free_bytes


def _own_disks(directory: Path, owner: int | None) -> dict[str, int | None]:
    try:
        return {schema: disk.free_bytes for schema, disk in own_disks(directory, owner).items()}
    except OSError:
        return {}


def _free_bytes(directory: Path) -> int | None:
    try:
        place = ForeignFiles.place(directory)
    except OSError:
        return None
    try:
        return free_bytes_at(place)
    except OSError:
        return None
    finally:
        os.close(place)

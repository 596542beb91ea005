"""What of a server decides whether ALTER TABLE ... ENGINE=... succeeds there: its version and a few of its variables.

Sources: manuals of MySQL 5.6 to 9.7 (innodb_strict_mode, innodb_large_prefix, innodb_file_format, innodb_default_row_format, sql_mode,
disabled_storage_engines, sql_require_primary_key) and of MariaDB; tried on MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from myisam_advisor.migrate import fulltext_settings, server_places
from myisam_advisor.migrate.fulltext_settings import NOT_KNOWN, FulltextSettings
from myisam_advisor.migrate.server_places import NO_PLACES, Places
from myisam_advisor.migrate.server_plugins import Plugins
from myisam_advisor.texts.near import did_you_mean
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.outside.numbers import finite_number, whole_number

MARIADB, MYSQL = "mariadb", "mysql"
INNODB, ARIA = "InnoDB", "Aria"
ENGINES = {"innodb": INNODB, "aria": ARIA}
# Series that were released; what is not among them is no version to go to.
SERIES: Mapping[str, tuple[tuple[int, int], ...]] = {
    MYSQL: ((5, 5), (5, 6), (5, 7), *((8, minor) for minor in range(5)), *((9, minor) for minor in range(8))),
    MARIADB: ((5, 5), *((10, minor) for minor in range(12)), *((11, minor) for minor in range(9)), *((12, minor) for minor in range(4))),
}  # fmt: skip
FIRST_MARIADB = 10
DICTIONARY_SINCE = (8, 0)  # of MySQL: definitions are in the dictionary of the server
# Series of MySQL and MariaDB of one time: what is of an earlier time is no version to go to, in the other product either.
TIMES: Mapping[str, tuple[tuple[int, int], ...]] = {
    MYSQL: ((5, 5), (5, 6), (5, 7), (8, 0)),
    MARIADB: ((5, 5), (10, 0), (10, 2), (10, 3)),
}
DEFAULT_PAGE_BYTES = 16_384
DEFAULT_WORDS_CACHE_BYTES = 8_000_000
# What servers take: manual, innodb_page_size and innodb_ft_cache_size (which MariaDB allows to be larger than MySQL does).
PAGE_BYTES, WORDS_CACHE_BYTES = (4_096, 65_536), (1_600_000, 1 << 40)
STRICT = ("STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL")
STRICT_AT_EACH_ROW = ("STRICT_ALL_TABLES", "TRADITIONAL")
ON = frozenset({"ON", "1", "YES"})
# Where sql_mode is strict by default, and where it refuses 0000-00-00 besides.
STRICT_SINCE = {MYSQL: (5, 7), MARIADB: (10, 2)}
# innodb_strict_mode, Barracuda and long prefixes by default; DYNAMIC rows unless told otherwise.
MODERN_INNODB_SINCE = {MYSQL: (5, 7), MARIADB: (10, 2)}
# A file for each table by default.
FILE_PER_TABLE_SINCE = {MYSQL: (5, 6), MARIADB: (10, 0)}
# What of SHOW ENGINES tells that there is an engine; others are NO and DISABLED.
SUPPORTED = frozenset({"YES", "DEFAULT"})
# Settings whose empty value is none: MariaDB 10.4 and 10.5 have them as "Deprecated parameter with no effect".
EMPTY_IS_NONE = frozenset({"innodb_file_format", "innodb_large_prefix", "innodb_default_row_format"})
# Of sql_mode, what decides about dates: also those that TRADITIONAL stands for.
DATE_MODES = frozenset({"NO_ZERO_DATE", "NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES"})
OF_TRADITIONAL = frozenset({"NO_ZERO_DATE", "NO_ZERO_IN_DATE"})
# MySQL 5.6.20 and later hold what lies outside of a row to a tenth of the redo log, 5.7.5 and later do not (release notes).
HOLDS_ROWS_TO_LOG = re.compile(r"5\.6\.([2-9][0-9])(?![0-9])", re.ASCII)
# Of MySQL: an index that a foreign key refers to must be a unique one over its columns alone (restrict_fk_on_non_standard_key).
STANDARD_KEYS_SINCE = (8, 4)
# innodb_force_recovery up to which InnoDB writes (MariaDB), and from which on it is read-only (MySQL).
MARIADB_WRITES_UNTIL, MYSQL_RECOVERS_UNTIL = 4, 3
REFUSES_NOCOPY_SINCE = (11, 0)
# Members of an ENUM or SET, in their character set, by the number of their collation.
MemberList = tuple[int, tuple[bytes, ...]]
UNREPEATABLE = frozenset({"READ-COMMITTED", "READ-UNCOMMITTED"})
# More than the columns of one table take in information_schema.COLUMNS.
QUESTION_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerKind:
    """One server, or what a version is by default."""

    flavour: str
    version: tuple[int, int]
    strict: bool
    strict_innodb: bool
    row_format: str
    large_prefix: bool
    barracuda: bool
    page_bytes: int = DEFAULT_PAGE_BYTES
    requires_primary_key: bool = False
    missing_engines: tuple[str, ...] = ()
    forbidden_engines: tuple[str, ...] = ()
    substitutes: bool = False
    read_only: bool = False
    recovers: bool = False
    galera: bool = False
    group: bool = False
    gtid: bool = False
    # What of DATE_MODES is in sql_mode.
    date_modes: frozenset[str] = frozenset()
    # MariaDB 10.11.10, 11.4.4 and later: a copying ALTER sorts the entries of each index first.
    sorts_copies: bool = False
    # innodb_ft_cache_size: words of FULLTEXT indexes are gathered in it.
    words_cache_bytes: int = DEFAULT_WORDS_CACHE_BYTES
    # Which words FULLTEXT indexes hold.
    fulltext: FulltextSettings = NOT_KNOWN
    file_per_table: bool = True
    # MariaDB's enforce_storage_engine: tables get no other, "" where any may be.
    enforced_engine: str = ""
    # binlog_format=STATEMENT and READ-COMMITTED: InnoDB refuses what is logged so.
    refuses_logging: bool = False
    # MariaDB's max_statement_time, MySQL's max_execution_time: 0 where nothing ends what lasts long.
    statement_seconds: float = 0.0
    # How large the redo log is, where rows are held to a tenth of it; else 0.
    redo_bytes: int = 0
    # foreign_key_checks, and restrict_fk_on_non_standard_key.
    foreign_checks: bool = True
    standard_keys: bool = False
    # Below which directories a table may lie.
    places: Places = NO_PLACES
    # None where they are not known.
    plugins: Plugins | None = None
    # MySQL's general tablespaces; None where they are not known.
    tablespaces: tuple[str, ...] | None = None
    # MariaDB's innodb_encrypt_tables (OFF, ON, FORCE), innodb_compression_algorithm, and whether pages have the checksum that SPATIAL indexes ask for.
    encrypts_tables: str = "OFF"
    compression_algorithm: str = "zlib"
    full_checksums: bool = True
    # sql_mode is strict by STRICT_TRANS_TABLES alone: where nothing can be rolled back, at the first row of a statement only.
    strict_at_first_row: bool = False
    # Whether it writes a binary log.
    logs_changes: bool = False
    # MariaDB's wsrep_mode (before 10.6 wsrep_replicate_myisam): nodes send statements on MyISAM and Aria tables to each other.
    sends_myisam: bool = False
    sends_aria: bool = False
    # The error that InnoDB ends every write with (innodb_read_only, innodb_force_recovery), else 0.
    refused_writes: int = 0
    # MariaDB's alter_algorithm where it is one that no ALTER to another engine can have, else "".
    refused_algorithm: str = ""
    # MariaDB's innodb_read_only_compressed.
    read_only_compressed: bool = False
    # MariaDB's tmp_disk_table_size is so small that information_schema.COLUMNS, which it puts into a table on disk, may not fit.
    limits_questions: bool = False
    # Lists of members of which the server says that two are one.
    repeated_members: frozenset[MemberList] = frozenset()

    @property
    def clustered(self) -> bool:
        """Whether it is a node of a cluster, or a member of a group: what is altered here is altered on rows of others, too."""
        return self.galera or self.group

    @property
    def takes_dynamic(self) -> bool:
        """Whether its InnoDB has DYNAMIC rows."""
        return self.barracuda and (self.file_per_table or self.since((5, 7), (10, 2)))

    @property
    def takes_compressed(self) -> bool:
        """Whether its InnoDB has compressed pages: only in files of the tables' own."""
        return self.barracuda and self.file_per_table

    @property
    def refuses_long_parts(self) -> bool:
        """Whether a column that is too long for an index ends the ALTER. MySQL 5.5 cuts it with a warning, strict or not."""
        return self.strict and self.since((5, 6), (5, 5))

    @property
    def label(self) -> str:
        """Its name for people."""
        return f"{'MariaDB' if self.flavour == MARIADB else 'MySQL'} {'.'.join(map(str, self.version))}"

    @property
    def is_mariadb(self) -> bool:
        """Whether it is a MariaDB."""
        return self.flavour == MARIADB

    @property
    def keeps_dictionary(self) -> bool:
        """Whether it is MySQL 8.0 or later."""
        return not self.is_mariadb and self.version >= DICTIONARY_SINCE

    def since(self, mysql: tuple[int, int], mariadb: tuple[int, int]) -> bool:
        """Whether it is of this version or later."""
        return self.version >= (mariadb if self.is_mariadb else mysql)


def by_default(flavour: str, version: tuple[int, int]) -> ServerKind:
    """A server of this version whose settings nobody changed."""
    modern = version >= MODERN_INNODB_SINCE[flavour]
    strict = version >= STRICT_SINCE[flavour]
    return ServerKind(
        flavour=flavour, version=version, strict=strict, strict_innodb=modern, row_format="DYNAMIC" if modern else "COMPACT", large_prefix=modern, barracuda=modern,
        missing_engines=(ARIA,) if flavour == MYSQL else (), date_modes=OF_TRADITIONAL if strict and flavour == MYSQL else frozenset(),
        file_per_table=version >= FILE_PER_TABLE_SINCE[flavour], standard_keys=flavour == MYSQL and version >= STANDARD_KEYS_SINCE,
        strict_at_first_row=strict,
    )  # fmt: skip


def of_variables(flavour: str, version: tuple[int, int], variables: Mapping[str, str]) -> ServerKind:
    """The server that has these variables; those that are not known are at their default."""
    usual = by_default(flavour, version)
    named = {name.lower(): value for name, value in variables.items()}
    told = {name: value for name, value in named.items() if value or name not in EMPTY_IS_NONE}

    def is_on(name: str, otherwise: bool) -> bool:
        return told[name].upper() in ON if name in told else otherwise

    modes = told["sql_mode"].upper().split(",") if "sql_mode" in told else None
    strict = usual.strict if modes is None else any(mode in modes for mode in STRICT)
    wsrep = is_on("wsrep_on", False) and told.get("wsrep_provider", "").lower() != "none"
    missing = [*usual.missing_engines]
    if told.get("have_innodb", "YES").upper() in ("NO", "DISABLED"):
        missing.append(INNODB)
    forbidden = tuple(
        name.strip().lower() for name in told.get("disabled_storage_engines", "").split(",") if name.strip()
    )
    sent = told.get("wsrep_mode", "").upper()
    return ServerKind(
        flavour=flavour, version=version, strict=strict,
        strict_innodb=is_on("innodb_strict_mode", usual.strict_innodb),
        row_format=told.get("innodb_default_row_format", usual.row_format).upper(),
        large_prefix=is_on("innodb_large_prefix", usual.large_prefix),
        barracuda=told.get("innodb_file_format", "Barracuda" if usual.barracuda else "Antelope").lower() == "barracuda",
        page_bytes=_within(told.get("innodb_page_size"), PAGE_BYTES, DEFAULT_PAGE_BYTES),
        requires_primary_key=is_on("sql_require_primary_key", False) or is_on("innodb_force_primary_key", False),
        missing_engines=tuple(missing),
        forbidden_engines=forbidden,
        substitutes="NO_ENGINE_SUBSTITUTION" not in (modes if modes is not None else ["NO_ENGINE_SUBSTITUTION"]),
        read_only=is_on("read_only", False),
        recovers=told.get("myisam_recover_options", told.get("myisam_recover", "OFF")).upper() not in ("OFF", "", "0"),
        galera=wsrep,
        group=bool(told.get("group_replication_group_name")),
        gtid=told.get("enforce_gtid_consistency", "OFF").upper() == "ON",
        date_modes=usual.date_modes if modes is None else _date_modes(modes),
        sorts_copies=is_on("innodb_alter_copy_bulk", False),
        words_cache_bytes=_within(told.get("innodb_ft_cache_size"), WORDS_CACHE_BYTES, DEFAULT_WORDS_CACHE_BYTES),
        fulltext=fulltext_settings.of_variables(told),
        file_per_table=is_on("innodb_file_per_table", usual.file_per_table),
        enforced_engine=told.get("enforce_storage_engine", ""),
        refuses_logging=_refuses_logging(told),
        statement_seconds=_statement_seconds(told),
        redo_bytes=_redo_bytes(flavour, version, told),
        foreign_checks=is_on("foreign_key_checks", True),
        standard_keys=is_on("restrict_fk_on_non_standard_key", usual.standard_keys),
        places=server_places.of_variables(told),
        encrypts_tables=told.get("innodb_encrypt_tables", "OFF").upper(),
        compression_algorithm=told.get("innodb_compression_algorithm", "zlib").lower(),
        full_checksums="full_crc32" in told.get("innodb_checksum_algorithm", "full_crc32"),
        logs_changes=is_on("log_bin", False),
        sends_myisam=wsrep and ("REPLICATE_MYISAM" in sent or is_on("wsrep_replicate_myisam", False)),
        sends_aria=wsrep and "REPLICATE_ARIA" in sent,
        strict_at_first_row=usual.strict if modes is None else strict and not any(mode in modes for mode in STRICT_AT_EACH_ROW),
        refused_writes=_refused_writes(
            flavour, version, read_only=is_on("innodb_read_only", False), recovery=whole_number(told.get("innodb_force_recovery")) or 0
        ),
        refused_algorithm=_refused_algorithm(version, told.get("alter_algorithm", "").upper()),
        read_only_compressed=is_on("innodb_read_only_compressed", False),
        limits_questions=(whole_number(told.get("tmp_disk_table_size")) or QUESTION_BYTES) < QUESTION_BYTES,
    )  # fmt: skip


def _refused_writes(flavour: str, version: tuple[int, int], *, read_only: bool, recovery: int) -> int:
    """Tried on MySQL 5.5, 5.6, 8.0 and 9.7, MariaDB 10.5, 10.11 and 11.8. Of an empty table a recovery may end at its last step instead (1025)."""
    if flavour == MARIADB:
        return 1005 if read_only or recovery > MARIADB_WRITES_UNTIL else 0
    if version < (5, 6):
        return 1030 if recovery else 0
    return 1874 if read_only or recovery > MYSQL_RECOVERS_UNTIL else 1881 if recovery else 0


def _refused_algorithm(version: tuple[int, int], asked: str) -> str:
    """MariaDB 10.5, 10.11 and 11.4 refuse INPLACE, 11.4 (not 10.5 and 10.11) NOCOPY and INSTANT, too; 11.8 has no other than DEFAULT."""
    refused = ("INPLACE", "NOCOPY", "INSTANT") if version >= REFUSES_NOCOPY_SINCE else ("INPLACE",)
    return asked if asked in refused else ""


def _within(text: str | None, range_bytes: tuple[int, int], otherwise: int) -> int:
    """What the server says, where a server takes it; the default for whatever else it says."""
    smallest, largest = range_bytes
    said = whole_number(text)
    return said if said is not None and smallest <= said <= largest else otherwise


def _refuses_logging(told: Mapping[str, str]) -> bool:
    """Error 1665: what InnoDB changes at this level is logged by rows only (manual, "Setting The Binary Log Format")."""
    level = told.get("transaction_isolation", told.get("tx_isolation", "")).upper()
    logged = told.get("log_bin", "OFF").upper() in ON and told.get("binlog_format", "").upper() == "STATEMENT"
    return logged and level in UNREPEATABLE


def _statement_seconds(told: Mapping[str, str]) -> float:
    """MariaDB counts in seconds, MySQL in milliseconds and of SELECTs alone."""
    seconds, milliseconds = (told.get(name) for name in ("max_statement_time", "max_execution_time"))
    return (finite_number(seconds) or 0.0) or (finite_number(milliseconds) or 0.0) / 1000


def with_engines(kind: ServerKind, support: Mapping[str, str]) -> ServerKind:
    """The same server, by what SHOW ENGINES says of each engine; without an answer as it was."""
    if not support:
        return kind
    there = {name.lower() for name, word in support.items() if word.upper() in SUPPORTED}
    return replace(kind, missing_engines=tuple(name for name in (INNODB, ARIA) if name.lower() not in there))


def _date_modes(modes: Sequence[str]) -> frozenset[str]:
    named = DATE_MODES.intersection(modes)
    return named | OF_TRADITIONAL if "TRADITIONAL" in modes else named


def _redo_bytes(flavour: str, version: tuple[int, int], told: Mapping[str, str]) -> int:
    """Of the whole redo log, on the versions that hold rows to it; 0 where it is not told."""
    if flavour != MYSQL or version != (5, 6) or not HOLDS_ROWS_TO_LOG.match(told.get("version", "")):
        return 0
    files, size = (whole_number(told.get(f"innodb_{name}")) for name in ("log_files_in_group", "log_file_size"))
    return (files or 0) * (size or 0)


def target_kind(text: str, present: str) -> ServerKind:
    """The version that the text names: 8.4, mysql-8.4, mariadb-11.8, 10.11.6. Raises UserError for one that does not exist."""
    flavour, dash, number = text.lower().rpartition("-")
    parts = number.split(".")
    whole = all(part.isascii() and part.isdecimal() and len(part) < 4 for part in parts)
    if flavour not in ((MYSQL, MARIADB) if dash else ("",)) or not whole or not 2 <= len(parts) <= 3:
        raise UserError(f"--target {text}: write a version such as mysql-8.4 or mariadb-11.8.")
    version = (int(parts[0]), int(parts[1]))
    if not flavour:
        flavour = MARIADB if version[0] >= FIRST_MARIADB else present if version == (5, 5) else MYSQL
    if version not in SERIES[flavour]:
        known = [f"{flavour}-{major}.{minor}" for major, minor in SERIES[flavour]]
        near = did_you_mean(f"{flavour}-{number}", known) or f" The newest that is known here is {known[-1]}."
        raise UserError(f"--target {text}: there is no such version.{near}")
    return by_default(flavour, version)


def expect_later(target: ServerKind, here: ServerKind) -> None:
    """Raises UserError for a target that is older than the server."""
    same = target.flavour == here.flavour
    older = target.version < here.version if same else _time(target) < _time(here)
    if older:
        raise UserError(
            f"--target {target.flavour}-{'.'.join(map(str, target.version))}: the server is {here.label}, which is later, and no server reads what a later "
            "one wrote. Name a later version, or leave --target out."
        )


def _time(kind: ServerKind) -> int:
    return sum(first <= kind.version for first in TIMES[kind.flavour])

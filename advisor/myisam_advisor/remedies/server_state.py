"""The state of a server that forbids or changes remedies: what it logs and replicates, whether it may be written, its cluster, its version."""

from __future__ import annotations

from functools import cached_property

from myisam_advisor.factbase.hosting import Hosting
from myisam_advisor.remedies.planners.base import FILE_LIMIT, PlanFacts
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import number_of, numbers_in

# Channels of a group are its own way to itself. Tried on MySQL 9.7: another one may be called group_replication_mine.
WAITS_FOR_SPACE = "Waiting for someone to free space"
GROUP_APPLIER = "group_replication_applier"
GROUP_CHANNELS = (GROUP_APPLIER, "group_replication_recovery")
PERSISTS_FROM = 80000
# An index file and a data file each; two for each of ten partitions (the rule open-files-limit has the same).
FILES_PER_TABLE, MOST_FILES_PER_TABLE = 2, 20
_OFF = frozenset({"OFF", "0", "NO", "FALSE", "NONE", ""})


class ServerState:
    """What the facts say of the server. None is unknown, which is neither yes nor no."""

    def __init__(self, known: PlanFacts) -> None:
        self._known = known

    @cached_property
    def logs_changes(self) -> bool | None:
        """Whether it writes a binary log."""
        return self.switch("log_bin")

    @cached_property
    def is_read_only(self) -> bool | None:
        """Whether ordinary accounts, or all, may not write: so are replicas. MariaDB knows NO_LOCK and more beside ON."""
        switches = [self.switch(name) for name in ("read_only", "super_read_only")]
        return True if True in switches else False if False in switches else None

    @cached_property
    def is_read_only_to_all(self) -> bool | None:
        """Whether administrators may not write either."""
        return self.switch("super_read_only")

    @cached_property
    def is_replica(self) -> bool | None:
        """Whether it is known to take its changes from another server, running or stopped; nothing says for sure that it does not."""
        running = self.status("Slave_running")
        if running is not None and str(running).upper() not in _OFF:
            return True
        channels = self._known.all.tables["replica"].dictionaries()
        return True if any(row["channel"] not in GROUP_CHANNELS for row in channels) else None

    @cached_property
    def refuses_mixed_engines(self) -> bool:
        """Whether a statement or transaction may not change both engines (MySQL's enforce_gtid_consistency, with a binary log)."""
        enforced = str(self.value("enforce_gtid_consistency")).upper() in ("ON", "1")
        return enforced and self.logs_changes is not False

    @property
    def hosting(self) -> Hosting:
        """Where it runs."""
        return self._known.hosting

    @cached_property
    def is_cluster_node(self) -> bool | None:
        """Whether it is a node of a Galera cluster. Where all variables are listed and this one is not, it is none, nor without a provider."""
        wsrep = self.switch("wsrep_on")
        if wsrep and self.switch("wsrep_provider") is False:
            return False
        return False if wsrep is None and self.value("version") is not None else wsrep

    @cached_property
    def sends_myisam(self) -> bool:
        """Whether nodes send statements on MyISAM tables to each other: MariaDB's wsrep_mode, before 10.6 wsrep_replicate_myisam."""
        return "REPLICATE_MYISAM" in str(self.value("wsrep_mode")).upper() or bool(
            self.switch("wsrep_replicate_myisam")
        )

    @cached_property
    def is_group_member(self) -> bool | None:
        """Whether it is set up as a member of a group (MySQL Group Replication), which has the variable only where the plugin is loaded."""
        name = self.value("group_replication_group_name")
        if name not in (None, ""):
            return True
        return False if name is not None or self.value("version") is not None else None

    @cached_property
    def is_out_of_its_group(self) -> bool:
        """Whether it is known to be set up as a member, and to take nothing from the group: stopped, or expelled. Tried on MySQL 9.7."""
        channels = self._known.all.tables["replica"].dictionaries()
        return self.is_group_member is True and any(
            row["channel"] == GROUP_APPLIER and row["sql_running"] == 0 for row in channels
        )

    @cached_property
    def alters_alone(self) -> bool:
        """Whether a node runs an ALTER apart from its cluster (wsrep_OSU_method=RSU), which else runs it everywhere."""
        return str(self.value("wsrep_osu_method")).upper() == "RSU"

    @cached_property
    def is_mariadb(self) -> bool:
        """Whether this is known to be MariaDB."""
        return self._known.all.single("server").get("flavour") == "mariadb"

    @cached_property
    def version_number(self) -> int | None:
        """The version to compare by."""
        number = number_of(self._known.all.single("server").get("version_number"))
        return None if number is None else int(number)

    @cached_property
    def reads_persisted_values(self) -> bool:
        """Whether it reads what SET PERSIST wrote (mysqld-auto.cnf), after all option files: MySQL 8.0 and later."""
        flavour = self._known.all.single("server").get("flavour")
        return flavour not in (None, "mariadb") and (self.version_number or 0) >= PERSISTS_FROM

    @cached_property
    def waits_for_space(self) -> bool:
        """Whether statements are seen to wait for space on a file system that is full, whichever it is: what disk-nearly-full tells of first."""
        states = self._known.all.tables["processlist"].dictionaries()
        return any(str(row["state"]).startswith(WAITS_FOR_SPACE) and row["threads"] != 0 for row in states)

    def disk_free_bytes(self, schema: Value) -> int | None:
        """Free space where a database's tables are."""
        free = number_of(self._known.disk_of(schema).get("data_directory_free_bytes"))
        return None if free is None else int(free)

    @cached_property
    def file_limit(self) -> int | None:
        """How many files the server may open: what it says, else what its process has. 0 in the variable is not a limit."""
        process = self._known.all.single("mysqld").get("open_files_limit")
        for limit in (self.value("open_files_limit"), process):
            if isinstance(limit, int | float) and limit > 0:
                return int(limit)
        return None

    @cached_property
    def open_files(self) -> float | None:
        """How many files it has open: its process, or what the server counts of them."""
        process = number_of(self._known.all.single("mysqld").get("open_files"))
        return process if process is not None else number_of(self.status("Open_files"))

    @cached_property
    def files_per_open_table(self) -> float:
        """How many files a table more in the table cache opens, as those that are open have them: two, and more with partitions and MERGE tables.

        Where they seem to have still more, most are another engine's files, which do not grow with the table cache.
        """
        counted, tables = number_of(self.status("Open_files")), number_of(self.status("Open_tables"))
        files = counted if counted is not None else self.open_files
        if files is None or not tables:
            return FILES_PER_TABLE
        partitions = numbers_in(self._known.all.tables["tables"].values("partitions"))
        most = max(MOST_FILES_PER_TABLE, FILES_PER_TABLE * max(partitions, default=0))
        return max(FILES_PER_TABLE, files / tables) if files / tables <= most else FILES_PER_TABLE

    @property
    def planned_file_limit(self) -> int:
        """The limit of open files that all findings are to name, as one of them needs it; 0 where none was settled."""
        return int(number_of(self._known.planned_variables.get(FILE_LIMIT)) or 0)

    @cached_property
    def table_caches(self) -> int:
        """How many table caches of the size that is set there may be: on MariaDB up to table_open_cache_instances; MySQL divides the one that is set."""
        instances = self.value("table_open_cache_instances")
        return instances if self.is_mariadb and isinstance(instances, int) and instances > 0 else 1

    @cached_property
    def index_files(self) -> int | None:
        """How many index files the MyISAM tables have, and as many data files: one each, or one for each partition where partitions are known."""
        tables = number_of(self._known.all.single("totals").get("myisam_tables"))
        if tables is None:
            return None
        partitions, partitioned = self._known.all.tables["tables"].sum_of("partitions")
        return int(tables + partitions - partitioned)

    def is_before(self, version_number: int) -> bool:
        """Whether the server is known to be older than this version."""
        return self.version_number is not None and self.version_number < version_number

    def value(self, variable: str) -> Value:
        """A variable, or None."""
        return self._known.variables.get(variable)

    def switch(self, variable: str) -> bool | None:
        """A variable that is on or off, or None."""
        value = self.value(variable)
        return None if value is None else str(value).upper() not in _OFF

    def status(self, name: str) -> Value:
        """A status variable, or None."""
        return self._known.all.tables["status"].by_name("value").get(name)

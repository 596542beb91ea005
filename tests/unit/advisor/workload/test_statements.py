"""Which tables a statement touches, and what is not replayed."""

import pytest

from myisam_advisor.workload.statements import refused, touched

# The statement; what it reads; what it writes; w: it writes, a: it is about the server, ?: there may be more.
CASES = [
        ("select * from a, b x join `c d` on x.i=c.i where i in (select i from e.f) order by 1", "d.a d.b d.c_d e.f", "", ""),
        ("with q(a,b) as (select 1 from base), r as (select * from q) select * from q join r join real", "d.base d.real", "", ""),
        ("insert ignore into t (a,b) select a, extract(year from d) from s on duplicate key update a=1", "d.s", "d.t", "w"),
        ("insert t values (1, (select max(i) from u)), (2,3)", "d.u", "d.t", "w"),
        ("update t set a=1 where b in (select c from d)", "d.d", "d.t", "w"),
        ("update a x join b on x.i=b.i set x.v=b.v, x.w=1", "d.b", "d.a", "w"),
        ("update a, b set v=1", "", "d.a d.b", "w"),
        ("delete from t where a=1", "", "d.t", "w"),
        ("delete from t x where a=1", "", "d.t", "w"),
        ("delete x, y from a x join b y join c", "d.c", "d.a d.b", "w"),
        ("delete from a, b using a join b join c where 1", "d.c", "d.a d.b", "w"),
        ("delete from a using t1 a join t2 b on a.i=b.i", "d.t2", "d.t1", "w"),
        ("delete from x.*, y using a x join b y join c", "d.c", "d.a d.b", "w"),
        ("delete a.* from a join b", "d.b", "d.a", "w"),
        # What cannot be read behind a database's name leaves no table of that name.
        ('select * from a, e."b c", f', "d.a d.f", "", ""),
        ('insert into e."b c" values (1)', "", "", "w?"),
        ('update e."b c" set x=1', "", "", "w?"),
        ("set statement a=1 for delete from t", "", "d.t", "w"),
        ("begin not atomic insert into t values (1); end", "", "", "w?"),
        ("select trim(both 'x' from n), f(a, b) from t", "d.t", "", ""),
        ("select 1", "", "", ""),
        ("select * from (a, b) left join (c, d) on 1, (select * from e) z, g", "d.a d.b d.c d.d d.e d.g", "", ""),
        ("select * from t use index (a,b) ignore index for join (c), t2", "d.t d.t2", "", ""),
        ("truncate t", "", "d.t", "w"),
        ("truncate table db.t", "", "db.t", "w"),
        ("drop table if exists a, b.c", "", "b.c d.a", "w"),
        ("create table t like u", "d.u", "d.t", "w"),
        ("create table x as select * from y", "d.y", "d.x", "w"),
        ("create temporary table if not exists x (a int) select * from y", "d.y", "d.x", "w"),
        ("alter table t add column x int", "", "d.t", "w"),
        ("rename table a to b, c to d.e", "", "d.a d.b d.c d.e", "w"),
        ("create index i on t (a)", "", "d.t", "w"),
        ("optimize table a, b", "", "d.a d.b", "wa"),
        ("check table a", "d.a", "", "a"),
        ("lock tables a read, b as x low_priority write, c write", "d.a", "d.b d.c", ""),
        ("flush tables a, b with read lock", "d.a d.b", "", "a"),
        ("describe t", "d.t", "", ""),
        ("explain select * from t", "d.t", "", ""),
        ("show tables", "", "", "a"),
        ("call p()", "", "", "w?"),
        ("commit", "", "", ""),
        ("set names utf8", "", "", ""),
        ("set @a=(select max(i) from t)", "d.t", "", ""),
        ("use db", "", "", ""),
        ("(select a from x) union all (select b from y)", "d.x d.y", "", ""),
        ("select a from t for update", "d.t", "", ""),
        ("select sql_no_cache * from t1 straight_join t2", "d.t1 d.t2", "", ""),
        ("handler t open", "d.t", "", ""),
        ("replace into t set a=1", "", "d.t", "w"),
        ("load data infile 'x' into table t", "", "d.t", "wa"),
        ("/* c */ LOAD  DATA infile 'x'", "", "", "a?"),
        ("select * from t into outfile 'x'", "d.t", "", ""),
        ("select 'into outfile' from t", "d.t", "", ""),
        ("grant all on *.* to x", "", "", "a"),
        ("set global x=1", "", "", "a"),
        ("set @@global.x=1", "", "", ""),
        ("create user x identified by 'p'", "", "", "wa"),
        ("create database x", "", "", "wa"),
        ("prepare s from 'select'", "", "", "w?"),
        ("delete from t", "", "d.t", "w"),
        ("load index into cache t", "", "", "a"),
        ("with x as (select 1 from z) delete from t where i in (select * from x)", "d.z", "d.t", "w"),
        ("select * from json_table('[]', '$' columns(a int path '$')) j, lateral (select 1 from q) z", "d.q", "", ""),
        ("table t", "d.t", "", ""),
        ("analyze table t", "d.t", "", "a"),
        ("insert into t table u", "d.u", "d.t", "w"),
        ("select count(*) from dual", "", "", ""),
        # No table is called so, in letters of whatever size, but between backticks.
        ("INSERT INTO t (a) SELECT 1 FROM DUAL WHERE NOT EXISTS (SELECT * FROM u)", "d.u", "d.t", "w"),
        ("select 1 from Dual, t", "d.t", "", ""),
        ("select 1 from `DUAL`", "d.DUAL", "", ""),
        ("select * from a.b.c", "a.b", "", ""),
        ("insert into db.t () values ()", "", "db.t", "w"),
        ("select a, b as (c) from t", "d.t", "", ""),
        ("update t as x set x.a=1", "", "d.t", "w"),
        ("update low_priority t set a=1, b=f(1,2) limit 1", "", "d.t", "w"),
        ("select * from t where x = 'a' and y from", "d.t", "", ""),
        ("from", "", "", "w?"),
        ("update a,b set a.v=1,b.w=2", "", "d.a d.b", "w"),
        ("garbage here", "", "", "w?"),
        ("", "", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "reads", "writes", "flags"), CASES, ids=[case[0][:60] for case in CASES])
def test_a_statement_touches_its_tables(statement: str, reads: str, writes: str, flags: str) -> None:
    found = touched(statement.encode(), b"d")
    names = [" ".join(sorted(f"{schema}.{name}".replace(" ", "_") for schema, name in tables)) for tables in (found.reads, found.writes)]
    told = "".join(flag for flag, holds in (("w", found.is_write), ("a", found.is_administrative), ("?", not found.understood)) if holds)
    assert [*names, told] == [reads, writes, flags]


def test_without_a_default_database_a_name_stands_alone() -> None:
    assert touched(b"select 1 from a, b.c", None).reads == {(None, "a"), ("b", "c")}


def test_names_between_backticks_are_as_they_are_written() -> None:
    assert touched(b"select 1 from `A``b`.`c.d`, `from`", b"d").reads == {("A`b", "c.d"), ("d", "from")}


def test_a_long_insert_is_understood_by_its_beginning() -> None:
    rows = b",(1)" * 500_000
    assert touched(b"insert into t values (0)" + rows, b"d").writes == {("d", "t")}
    assert touched(b"insert into t values (0)" + rows, b"d").understood
    assert not touched(b"select 1 from t where a in (0" + b",1" * 800_000 + b")", b"d").understood


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        (b"LOAD DATA LOCAL INFILE 'x' INTO TABLE t", "LOAD DATA"), (b"/* c */ load\n\tdata infile 'x'", "LOAD DATA"), (b"-- c\nLOAD XML INFILE 'x'", "LOAD XML"),
        (b"SELECT * FROM t INTO OUTFILE 'x'", "INTO OUTFILE"), (b"select a into /* x */ dumpfile 'x' from t", "INTO DUMPFILE"), (b"select 'into outfile' from t", None),
        (b"GRANT ALL ON *.* TO x", "GRANT"), (b"CREATE USER x IDENTIFIED BY 'p'", "CREATE USER"), (b"SET PASSWORD = 'p'", "SET PASSWORD"), (b"set global x=1", "SET GLOBAL"),
        (b"SET @@global.x = 1", "SET GLOBAL"), (b"SET @@global.hot.key_buffer_size=1", "SET GLOBAL"), (b"SET @@GLOBAL . `x1` := 1", "SET GLOBAL"), (b"set @x = @@global.max_connections", None), (b"set @@session.a=1, @@global . `hot cache` . b=2", "SET GLOBAL"),
        ("SET @@global.größe.key_buffer_size=1".encode(), "SET GLOBAL"), (b"set @@global/**/.x=1", "SET GLOBAL"), (b"set @@/*!50000 persist*/.x=1", "SET PERSIST"), (b"set @@`global`.x=1", "SET GLOBAL"), (b"SET @a = 'x, @@global.a = 1'", None),
        (b"SET NAMES utf8", None), (b"START SLAVE", "START SLAVE"),
        (b"start transaction", None), (b"KILL 5", "KILL"), (b"(select 1)", None), (b"load index into cache t", None), (b"create table t (a int)", None), (b"", None), (b"\0\xff", None),
        (b"CREATE OR REPLACE USER a IDENTIFIED BY 'x'", "CREATE USER"), (b"create or /* c */ replace server s options (password 'x')", "CREATE SERVER"), (b"CREATE OR REPLACE TABLE t (a INT)", None),
        (b"CREATE /* c */ USER a IDENTIFIED BY 'x'", "CREATE USER"), (b"/*!50000 ALTER USER */ a IDENTIFIED BY 'x'", "ALTER USER"), (b"SET -- c\nPASSWORD = 'x'", "SET PASSWORD"),
        (b"SET STATEMENT x=1 FOR GRANT ALL ON *.* TO a IDENTIFIED BY 'x'", "GRANT"), (b"set statement a=1, b=(2) for set global c=3", "SET GLOBAL"), (b"SET STATEMENT x=1 FOR SELECT 1", None),
        (b"SET @a=1, PASSWORD = 'x'", "SET PASSWORD"), (b"SET @a=1, GLOBAL b=2", "SET GLOBAL"), (b"SET @a='x, GLOBAL b=2', @b=3", None), (b"SET PASSWORD FOR a TO RANDOM", "SET PASSWORD"),
        (b"CHANGE MASTER TO MASTER_PASSWORD='x'", "CHANGE MASTER"), (b"CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD='x'", "CHANGE MASTER"), (b"START SLAVE USER='a' PASSWORD='x'", "START SLAVE"),
        (b"START REPLICA SQL_THREAD PASSWORD='x'", "START REPLICA"), (b"START GROUP_REPLICATION USER='a', PASSWORD='x'", "START GROUP_REPLICATION"), (b"START ALL SLAVES", "START ALL SLAVES"),
        (b"CREATE PROCEDURE p() BEGIN CREATE USER a IDENTIFIED BY 'x'; END", "an account"), (b"BEGIN NOT ATOMIC GRANT ALL ON *.* TO a IDENTIFIED VIA x USING 'y'; END", "an account"),
        (b"CREATE TABLE f (id INT) ENGINE=FEDERATED CONNECTION='mysql://u:pw@host/d/t'", "an account"),
        (b"CREATE TABLE f (id INT) CONNECTION/**/=_utf8'mysql://u:pw@host/d/t'", "an account"), (b"CREATE TABLE f (id INT) ENGINE SPIDER COMMENT='password \"x\"'", "an account"),
        (b"SET @s='ALTER USER u IDENTIFIED BY \\'x\\''", "an account"), (b"SET @s='CREATE TABLE f (i INT) CONNECTION=\\'mysql://u:p@h/d/t\\''", "an account"),
        (b"/*" + b"x" * 300_000 + b"*/ DROP DATABASE d", "DROP DATABASE"), (b"CREATE /*" + b"x" * 300_000 + b"*/ USER u", "CREATE USER"),
        (b"INSERT INTO posts VALUES (1,'create your connection \"here\"')", None), (b"SELECT * FROM log WHERE action='create' AND connection = 'wifi'", None),
        (b"EXPLAIN SELECT * FROM log WHERE connection = 'abc'", None), (b"SET @n=(SELECT COUNT(*) FROM l WHERE connection='x')", None), (b"CREATE TEMPORARY TABLE q SELECT * FROM l WHERE connection = 'x'", None),
        (b"CREATE TABLE t (connection INT, a INT COMMENT 'the connection \"type\"')", None), (b"SELECT * FROM t ORDER BY identified WITH TIES", None), (b"alter table f connection 'mysql://u:pw@h/d/t'", "an account"),
        (b"PREPARE s FROM \"CREATE USER a IDENTIFIED BY 'x'\"", "an account"), (b"EXECUTE IMMEDIATE 'GRANT ALL ON *.* TO a IDENTIFIED  WITH x'", "an account"),
        (b"INSERT INTO notes VALUES ('identified by')", None), (b"SELECT `identified` by, identified FROM t", None), (b"SELECT 1 FROM t GROUP BY identified WITH ROLLUP", None),
        (b" \n" * 300 + b"SET PASSWORD = 'x'", "SET PASSWORD"),
        (b"SET @a=(SELECT b, global FROM t)", None), (b"SET GLOBAL a=1, b=2", "SET GLOBAL"), (b"SET PERSIST `x`=1", "SET PERSIST"), (b"SET a=1, @@persist_only.b=2", "SET PERSIST"), (b"set/**/global x=1", "SET GLOBAL"),
        (b"BEGIN NOT ATOMIC SELECT 1; SET GLOBAL x=1; END", "SET GLOBAL"), (b"IF 1 THEN SET @a=1, @@global.x=1; END IF", "SET GLOBAL"), (b"l: LOOP SET GLOBAL x=1; LEAVE l; END LOOP", "SET GLOBAL"),
        (b"BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION, 1146 SET GLOBAL x=1; SELECT 1; END", "SET GLOBAL"), (b"begin/**/not/**/atomic set global x=1; end", "SET GLOBAL"), (b"/*M!100000 BEGIN NOT ATOMIC SET GLOBAL x=1; END */", "SET GLOBAL"),
        (b"/*!50000 BEGIN*/ NOT ATOMIC SET GLOBAL x=1; END", "SET GLOBAL"), (b"BEGIN NOT ATOMIC SET STATEMENT max_statement_time=1 FOR SET @@GLOBAL.x=1; END", "SET GLOBAL"), (b"BEGIN NOT ATOMIC SET PASSWORD = 'p'; END", "SET PASSWORD"),
        (b"BEGIN NOT ATOMIC UPDATE t SET a=1, password='p'; END", None), (b"BEGIN", None), (b"IF 1 THEN UPDATE t SET password=@@global.x; END IF", None),
        (b"BEGIN NOT ATOMIC UPDATE t SET `global`=1; SET @global=2; END", None), (b"IF 1 THEN UPDATE t SET global.x=1; END IF", None), (b"CREATE PROCEDURE p() SET GLOBAL x=1", None),
        (b"PREPARE s FROM 'SET GLOBAL x=1'", "SET GLOBAL"), (b"/* c */ prepare `s` from \"SET @@global.x=1\";", "SET GLOBAL"), (b"/*!50000 PREPARE s FROM 'SET GLOBAL x=1' */", "SET GLOBAL"), (b"EXECUTE IMMEDIATE 'SET GLOBAL x=?' USING 1", "SET GLOBAL"),
        (b"PREPARE s FROM 'SET @a=\"\", GLOBAL x=1'", "SET GLOBAL"), (b"PREPARE s FROM 'SET @a='''', PERSIST x=1'", "SET PERSIST"), (b"SET STATEMENT a=1 FOR EXECUTE IMMEDIATE 'SHUTDOWN'", "SHUTDOWN"),
        (b"SET STATEMENT a=1 FOR PREPARE s FROM 'LOAD DATA INFILE \\'x\\' INTO TABLE t'", "LOAD DATA"), (b"PREPARE s FROM 'SELECT 1 INTO OUTFILE \"/tmp/x\"'", "INTO OUTFILE"), (b"PREPARE s FROM @text", None),
        (b"PREPARE s FROM 'SELECT \"SET GLOBAL x=1\"'", None), (b"SELECT 'prepare s from ''SET GLOBAL x=1'''", None),
        (b"XA START 'a'", "XA"), (b"xa prepare 'a'", "XA"), (b"LOCK TABLES t WRITE", None), (b"SET DEFAULT ROLE NONE FOR u", "SET DEFAULT ROLE"),
        (b"SET RESOURCE GROUP r", "SET RESOURCE GROUP"), (b"SET default_storage_engine=MyISAM", None), (b"CREATE TEMPORARY TABLE f (a INT) ENGINE = 'CONNECT' OPTION_LIST='Password=x'", "an account"),
        (b"CREATE TABLE f (a INT) ENGINE \"federated\"", "an account"), (b"CREATE TABLE f (a CHAR(9) DEFAULT 'connect') ENGINE=MyISAM", None), (b"SET @a = '\x95\\', GLOBAL x=1", "SET GLOBAL"), (b"SELECT '\x95\\' INTO OUTFILE '/tmp/x'", "INTO OUTFILE"),
        (b"SET @a = 'it\\', GLOBAL x=1'", None), (b"SET @a = '\x95\\', @b=1", None),
    ],
)  # fmt: skip
def test_what_is_not_replayed_is_named(statement: bytes, name: str | None) -> None:
    assert refused(statement) == name


@pytest.mark.parametrize("repeated", [b"(", b"from ", b"from(", b"with a as (", b"a,", b"from a,", b".", b"update ", b"set a,", b"begin set global ", b"`", b"delete a,", b"create connection ", "`é`,".encode()])
def test_hostile_statements_take_bounded_time(repeated: bytes) -> None:
    for verb in (b"select ", b"update ", b"delete ", b"insert ", b"with ", b"create table ", b"lock tables ", b"begin not atomic ", b"set "):
        touched(verb + repeated * 20_000, b"d")
        refused(verb + repeated * 20_000)

"""Inputs for the targets to begin with: what gets far in each."""

from collections.abc import Iterable

from tests.support.repository import ROOT

from .targets import conversation, openings

# Aliases and merge keys that stand for billions, numbers without end, and what is no number.
ALIASES = [
    b"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
    b"a: &a {k: 1}\nb: &b {<<: [*a,*a,*a,*a,*a,*a,*a]}\nc: &c {<<: [*b,*b,*b,*b,*b,*b,*b]}\nd: {<<: [*c,*c,*c,*c,*c,*c,*c]}\n",
    b"a: &a [*a]\n", b"a: " + b"[" * 2000, b"a: " + b"9" * 4000, b"a: 1" + b":59" * 1000, b"a: 2001-13-45\nb: !!timestamp 2001-13-45\n", b"1: 2\n", b"? [a]\n: b\n",
]  # fmt: skip
STRANGE_FACTS = [
    *(b"schema: 1\ninterval_seconds: &z 10\nstatus:\n  " + alias.replace(b"\n", b"\n  ") for alias in ALIASES),
    b"schema: 1\nstatus: {Key_reads: 18446744073709551615}\nvariable: {key_buffer_size: 18446744073709551615, key_cache_block_size: 18446744073709551615, key_cache_segments: 18446744073709551615}\n",
    b"schema: 1\nvariable: {size: " + b"9" * 400 + b"g}\nstatus: {Key_reads: .inf, Key_writes: .nan}\nserver: {version: 99999999999999999999.9.9}\n",
    b'{"schema": 1, "status": {"a": NaN, "b": Infinity, "c": 1e999}, "server": {"hostname": "\\ud800"}}', b'{"schema": 1, "a": ' + b"[" * 4000,
    b"schema: 1\ntables: [{schema_name: a, table_name: b, data_bytes: 9223372036854775807}, {schema_name: a, table_name: c, data_bytes: 9223372036854775807}]\nkey_cache: [{name: x, size_bytes: 5, block_size_bytes: -228}]\n",
]  # fmt: skip


def seeds(name: str) -> Iterable[bytes]:  # noqa: PLR0911 - one for each that is made
    """Inputs that get far, to begin with."""
    if name == "myi_header":
        from tests.support.myi import header

        return [header(), header(options=1, keys=((0, ((3, 0, 4), (8, 1, 40))), (2, ((15, 9, 100),))))]
    if name == "fulltext_pages":
        return [path.read_bytes() for path in sorted((ROOT / "tests" / "recorded" / "tables").glob("*/shop/posts.MYI"))]
    if name == "frm_definition":
        from tests.support.frm import definition

        return [definition(), definition([(12, 8, 19), (15, 33, 60)], engine=20), definition(version=8, created=0)]
    if name == "frm_keys":
        from tests.support.frm import with_keys

        return [with_keys([("PRIMARY", 1, 1, 0), ("a`é", 0, 2, 0), ("words", 128, 1, 4)]), with_keys([("lu", 0, 1, 5), ("vk", 0, 1, 7)]), with_keys([(f"k{number}", 0, 3, 0) for number in range(60)])]
    if name == "server":
        return [conversation(), *openings()]
    if name == "rule_file":
        return [*ALIASES, *(path.read_bytes() for path in sorted((ROOT / "rules" / "advice").glob("*.yaml"))[:6])]
    if name == "statement_log":
        mysql = b"# Time: 2026-11-22T20:00:00.000001Z\n# User@Host: a[a] @ localhost []  Id: 8\n# Query_time: 0.000123  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 3\nuse a;\nSET timestamp=1795377600;\nSELECT '\n# User@Host: b';\n"
        mariadb = b"# Time: 261122 20:00:00\n# User@Host: a[a] @ localhost []\n# Thread_id: 8  Schema: s  QC_hit: No\n# Query_time: 0.1  Lock_time: 0.2  Rows_sent: 1  Rows_examined: 3\nSET timestamp=1795377600;\nUPDATE a, b SET a.x=1;\n"
        started = b"/m, Version: 8.4.2 (x). started with:\nTcp port: 3306  Unix socket: /s\nTime                 Id Command    Argument\n"
        general = b"2026-11-22T20:00:00.000001Z\t 8 Connect\ta@b on d using Socket\n261122 20:00:00\t 8 Query\tuse x\n\t\t 8 Execute\tSELECT `a'b`\n"
        return [mysql + mariadb, mysql + started + mysql, b"\0" * 9 + mariadb + b"\0" * 9 + mysql, general + started + general, mysql.replace(b"SELECT", b"WITH c AS (SELECT 1) DELETE t FROM u JOIN t -- ")]
    if name == "workload_file":
        return [b'{"format":"myisam-advisor workload","version":1,"source":"x"}\n[1,2,3,null,"x",null,null,null,null,false]\n{"statements":1,"left_out":{"a":1}}\n']
    return {
        "merge_list": [b"m1\nm2\n./e@002de/m@0020@1o\n#INSERT_METHOD=LAST\n"],
        "file_name": [b"orders", b"a@002db", b"@0041#P#p0#SP#s1", "ü☃".encode()],
        "login_file": [bytes.fromhex("0000000012150b0b0309121a0b1e1b0308080b071a1602101000000031c9bb0f7b53c1ea70c5cc7986afd29810000000a2ce1912101650c034778a4e014e8ba5")],
        "option_file": [b"[client]\nuser = x\npassword = \"hunter2 \\t\"\n# c\nsocket=/a/b\n[client.shop]\nport=3306\n", b"[client]\nssl-mode=VERIFY_CA\nloose-skip-ssl\nssl_ca=x\ntls-version=TLSv1.2\nenable-cleartext-plugin=0\n"],
        "facts_file": [b"schema: 1\ninterval_seconds: 10\nstatus: {Key_reads: 5}\ntables: [{schema_name: s, table_name: t, crashed: 1}]\n", *STRANGE_FACTS],
        "configuration": [*ALIASES, b"thresholds:\n  io-bound-data: {minimum_iowait: 0.3}\nsuppressions:\n  - {rule: pack-keys, object: 's.*', reason: why, until: 2027-01-01}\nignored_schemas: ['a*']\n"],
        "http_request": [b"GET /metrics?collect[]=x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n", b"POST /-/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                         b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"],
        "process_state": [b'{"format":1,"moment":1.5,"process":{"pid":1,"started_ticks":1,"threads":1,"user_ticks":1,"system_ticks":1,"minor_faults":1,"major_faults":1},"switches":{"1":[1,2]},"io":[1,2,3],"status":{"Uptime":1},"totals":[[["a"],1.0]]}'],
        "history_entry": [b'{"mysqld.threads":12,"status.Questions.per_second":1.5,"key_cache.reads[hot]":null}', b'{"tables":{"host":{"columns":["a"],"rows":[[1]]}},"interval_seconds":10,"unknown":{"a":["b","c",false]},"notes":[["a","b",true]]}'],
        "munin_document": [b'{"schema":1,"up":true,"reason":"","values":{"a":1},"peaks":{},"key_caches":["a"],"tables":[{"schema":"s","table":"t","values":{}}],"advice":null}'],
    }[name]  # fmt: skip

"""A result of a replay as tests read it."""

from myisam_advisor.proofs.proof import NO_DIFFERENCE, UNCLEAR, WORSE, WORTH_IT
from myisam_advisor.trial.rounds import CLEAR, Course, Noise
from myisam_advisor.trial.statements.replay_result import (
    Difference,
    Fidelity,
    KindResult,
    KindVariant,
    Latency,
    Measured,
    ReplayResult,
    TableStart,
    VariantResult,
    Window,
)


def measured(rate: float) -> Measured:
    return Measured(rate, 2.0, Latency(0.25, 1.5, 4.125), 8)


def a_result(speed: str = "max") -> ReplayResult:
    """One change that pays and hurts a kind, one that cannot be told, one that the server refuses."""
    bigger, packed, refused = "key_buffer_size=1G", "pack-keys (shop.words)", "ALTER TABLE shop.none PACK_KEYS=0"
    return ReplayResult(
        variants=(
            VariantResult(bigger, (), (bigger,), 1.42, 1.31, 1.50, WORTH_IT, measured(7100)),
            VariantResult(packed, ("pack-keys",), ("ALTER TABLE `shop`.`words` PACK_KEYS=0",), 1.01, 0.9, 1.12, UNCLEAR, measured(5050)),
            VariantResult(refused, (), (refused,), problem="Table 'shop.none' doesn't exist (error 1146)"),
        ),
        kinds=(
            KindResult("insert into log values(?+)", 0.2, 400, 0.4, (KindVariant(bigger, 0.8, 0.7, 0.9, WORSE), KindVariant(packed, 1.0, 0.97, 1.03, NO_DIFFERENCE))),
            KindResult("select name from words where id = ?", 0.75, 9_000, 0.166, (KindVariant(bigger, 1.6, 1.5, 1.7, WORTH_IT), KindVariant(packed, 1.1, None, None, UNCLEAR))),
        ),
        fidelity=Fidelity(
            10_010, 9_990, {"LOAD DATA": 15, "shop.kept: it is an InnoDB table": 5}, 9_400, 10, 580,
            (Difference("select count(*) from log", 0, 10, 1, 2), Difference("insert into log values(?+)", 1062, 3, None, None)),
            (TableStart("shop.log", 40_960, 400, 75.5), TableStart("shop.words", 1 << 20, 0, None)), 2, 7, 60.0, 60.3, 0.21,
            Window(10_010, 60.0, 10_010, 60.0, 1.0), 3, notes=("12 statements were prepared ones, and are sent as text.",), errors_recorded=False,
        ),
        baseline=measured(5000), speed=speed, server="MariaDB", version="10.11.6", tables=("shop.log", "shop.words"),
        settings=("--key-buffer-size=16777216",),
        workload={"source": "slow_log", "server": "mariadb 10.11.6", "began_at": "2026-09-21T14:13:20Z", "statements": "10010", "connections": "8", "seconds": "60.0"},
        machine="2 cores", taken_at=1_790_000_000.0, course=Course(8, 1, 0, 50.0, CLEAR, Noise(8, 0.01, 0.03)),
    )  # fmt: skip

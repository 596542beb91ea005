"""An upgrade whose recorded statements met everything that there is to tell."""

from myisam_advisor.trial.rounds import Course
from myisam_advisor.trial.statements.replay_result import KindResult, KindVariant
from myisam_advisor.trial.upgrade.recorded_result import (
    ROW_COUNT,
    ROW_ORDER,
    OtherResult,
    RecordedUpgrade,
    RefusedKind,
    ServerSetting,
)
from myisam_advisor.trial.upgrade.result_notes import FOLLOWS, GROUPED
from myisam_advisor.trial.upgrade.upgrade_result import UpgradeResult

_SPEED = KindVariant("MySQL 9.7", 1.5, 1.2, 1.8, "worth it")
RECORDED = RecordedUpgrade(
    {"statements": "12"}, 12, 10, 1, {"shop.kept: it is an InnoDB table": 1}, 2, 1,
    (RefusedKind("select rank from words", 3, 1064, "near 'from words' at line 1", 0, False), RefusedKind("insert into log values (?+)", 1, 1292, "", 1062, True)),
    (RefusedKind("select lag(id) from words", 1, 1305, "FUNCTION lag does not exist", 0, None),),
    (OtherResult("select id from log", ROW_COUNT, 1, 2, 2, 0, FOLLOWS), OtherResult("select a from t group by a", ROW_ORDER, 1, 1, None, None, GROUPED)),
    4, 3, _SPEED, (KindResult("select name from words", 0.7, 9, 0.1, (_SPEED,)),), Course(6), "",
    (ServerSetting("sql_mode", "", "STRICT_TRANS_TABLES", False), ServerSetting("character_set_server", "latin1", "latin1", True)), ("A note.",),
)  # fmt: skip
UPGRADED = UpgradeResult("MySQL 5.6", "MySQL", "9.7.0", (), (), (), "here", RECORDED)

"""MySQLTuner as Debian 12 has it."""

from benchmarks.advice.mysqltuner import MySQLTuner

ADVISER = MySQLTuner("mysqltuner", "mysqltuner")

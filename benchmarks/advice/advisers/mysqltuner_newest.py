"""MySQLTuner as Debian's unstable suite has it: no registry has a newer one.

What it says of MyISAM is asked for: this release says it only then.
"""

from benchmarks.advice.mysqltuner import MySQLTuner

ADVISER = MySQLTuner("mysqltuner-newest", "mysqltuner-newest", ("--myisamstat",))

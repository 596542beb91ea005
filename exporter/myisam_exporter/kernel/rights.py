"""What to do where the operating system does not let us look: the right that is missing, and the drop-in that gives it to the service."""

FILES_DROP_IN = "/usr/share/myisam-advisor/systemd/files.conf"
COMMAND = "sudo myisam-advisor rights"
SERVICE = f"the systemd service: {COMMAND}, or {FILES_DROP_IN}"
READ_FILES = (
    "run as root (sudo myisam-advisor check) or as a member of the server's group where it may enter its directories; "
    f"a service: with CAP_DAC_READ_SEARCH ({SERVICE})"
)
READ_PROCESS = f"run as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH ({SERVICE})"
READ_RESIDENCY = (
    "run as a member of the server's group where that may write its files (MariaDB), or with CAP_FOWNER "
    f"({SERVICE}, for MySQL 8.0 and later residency.conf beside it)"
)

SHOW_DIRECTORY = (
    f"run myisam-advisor beside the server; where that is on this machine, show the directory to the systemd service: `{COMMAND}` does, "
    "beside /var/lib/mysql which files.conf shows (BindReadOnlyPaths=)"
)

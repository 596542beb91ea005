"""What a package installs beside the program, derived from the command line itself: a man page a command, and completion for three shells."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from myisam_advisor.cli.described import described, first_sentence, option_records
from myisam_advisor.cli.group import cli
from myisam_exporter.version import __version__

PROGRAM = "myisam-advisor"
BREAKABLE = r"|\:"  # a list of choices may go over several lines
INTERRUPTED = ("130", "Interrupted.")
FILES = (
    ("/etc/myisam-advisor/config.yaml", "Thresholds, suppressions, own rules, ignored schemas."),
    ("/var/lib/myisam-advisor/history.sqlite", "What the daemon recorded."),
    ("/etc/my.cnf, /etc/mysql/my.cnf, ~/.my.cnf", "Option files, as the server's own client programs read them."),
    ("~/.mylogin.cnf", "Login paths of mysql_config_editor."),
)
VARIABLES = (
    (
        "MYSQL_HOST, MYSQL_TCP_PORT, MYSQL_UNIX_PORT, MYSQL_PWD",
        "What no option and no file says; MYSQL_PWD with a warning.",
    ),
    ("MYSQL_GROUP_SUFFIX, MYSQL_TEST_LOGIN_FILE", "As --defaults-group-suffix; another file than ~/.mylogin.cnf."),
    ("MYISAM_ADVISOR_DEBUG", "1: show where an internal error happened."),
)
# Where each shell looks, below /usr/share; Debian's places.
COMPLETION_FILES = {
    "bash": f"bash-completion/completions/{PROGRAM}",
    "zsh": f"zsh/vendor-completions/_{PROGRAM}",
    "fish": f"fish/vendor_completions.d/{PROGRAM}.fish",
}


def man_pages(day: str) -> dict[str, str]:
    """File name -> text in roff (man(7)), one for each command; `day` is the date they bear."""
    top = click.Context(cli, info_name=PROGRAM, **cli.context_settings)
    return {f"{context.command_path.replace(' ', '-')}.1": _page(context, day) for context in (top, *_below(top))}


def completions() -> dict[str, str]:
    """File name below /usr/share -> text: how each shell asks the program itself what may come next."""
    from click.shell_completion import get_completion_class

    texts = {}
    for shell, name in COMPLETION_FILES.items():
        kind = get_completion_class(shell)
        assert kind is not None
        complete = kind(cli, {}, PROGRAM, f"_{PROGRAM.replace('-', '_').upper()}_COMPLETE")
        # Not source(): for bash it would look which one this machine has.
        texts[name] = complete.source_template % complete.source_vars()
    zsh = COMPLETION_FILES["zsh"]
    if "loadautofunc" not in texts[zsh]:
        # click before 8.1.4, which Debian 12 has: zsh loads the file at the first press of the tab key, and must complete then too.
        texts[zsh] += '\n[[ $zsh_eval_context[-1] != loadautofunc ]] || _myisam_advisor_completion "$@"\n'
    return texts


def _below(context: click.Context) -> Iterator[click.Context]:
    command = context.command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if found := command.get_command(context, name):
                inner = click.Context(found, info_name=name, parent=context, **found.context_settings)
                yield inner
                yield from _below(inner)


def _page(context: click.Context, day: str) -> str:
    command, name = context.command, context.command_path
    paragraphs = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{name.replace(" ", "-").upper()}" 1 "{day}" "{PROGRAM} {__version__}" "User Commands"',
        ".SH NAME",
        rf"{_text(name.replace(' ', '-'))} \- {_text(first_sentence(command))}",
        ".SH SYNOPSIS",
        rf"\fB{_text(name)}\fR {_text(usage).replace('|', BREAKABLE)}",
        ".SH DESCRIPTION",
    ]
    for paragraph in paragraphs:
        lines += [".PP", _text(paragraph)]
    for title, records in option_records(command, context):
        lines += _listed(title.upper(), records)
    if isinstance(command, click.Group):
        inner = ((each.command_path.replace(" ", "-"), each.command.help or "") for each in _below(context))
        lines += _listed("COMMANDS", ((f"{page}(1)", help_text.split("\n\n")[0]) for page, help_text in inner))
    if context.parent is None:
        lines += _listed("FILES", FILES)
        lines += _listed("ENVIRONMENT", VARIABLES)
    examples, statuses = described(command)
    lines += _listed("EXAMPLES", examples)
    lines += _listed("EXIT STATUS", (*statuses, INTERRUPTED))
    parent = "" if context.parent is None else rf"\fB{_text(PROGRAM)}\fR(1), "
    lines += [".SH SEE ALSO", rf"{parent}\fBmyisamchk\fR(1); /usr/share/doc/{PROGRAM}"]
    return "\n".join(lines) + "\n"


def _listed(title: str, entries: Iterable[tuple[str, str]]) -> list[str]:
    lines = [
        line
        for term, meaning in entries
        for line in (".TP", rf"\fB{_text(term)}\fR", _text(" ".join(meaning.split())) or r"\&")
    ]
    return [f".SH {title}", *lines] if lines else []


def _text(text: str) -> str:
    """Plain text in roff: a dash is a hyphen to type, and nothing at the beginning of a line is a request."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("`", r"\(ga").replace("'", r"\(aq")
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


def main() -> None:
    """Manual TARGET: write them below TARGET as below /usr/share; the date comes from SOURCE_DATE_EPOCH where it is set."""
    import os

    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    pages = {f"man/man1/{name}": text for name, text in man_pages(time.strftime("%Y-%m-%d", moment)).items()}
    for name, text in (pages | completions()).items():
        path = Path(sys.argv[1]) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

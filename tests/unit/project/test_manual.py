"""Man pages and completion, derived from the command line: read by the programs that will read them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from myisam_advisor.cli.group import cli
from tools.manual import COMPLETION_FILES, completions, man_pages

PROGRAM = Path(sys.executable).with_name("myisam-advisor")
CONTEXT = click.Context(cli, **cli.context_settings)
COMMANDS = {name: command for name in cli.list_commands(CONTEXT) if (command := cli.get_command(CONTEXT, name))}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("man")
    written = {}
    for name, text in man_pages("2026-01-02").items():
        written[name] = folder / name
        written[name].write_text(text)
    return written


def test_every_command_has_a_page(pages: dict[str, Path]) -> None:
    assert set(pages) >= {"myisam-advisor.1", *(f"myisam-advisor-{name}.1" for name in COMMANDS)}
    assert "myisam-advisor-munin-install.1" in pages


def test_man_reads_them_without_a_warning(pages: dict[str, Path]) -> None:
    if shutil.which("man") is None or shutil.which("lexgrog") is None:
        pytest.skip("man-db is not installed")
    for path in pages.values():
        done = subprocess.run(["man", "--warnings", "--local-file", str(path)], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "90"}, check=True)
        assert done.stderr == ""
        for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"):
            assert f"\n{title}\n" in done.stdout, path.name
        assert "2026-01-02" in done.stdout
        # What apropos finds.
        assert f'"{path.stem} - ' in subprocess.run(["lexgrog", str(path)], capture_output=True, text=True, check=True).stdout


def test_every_option_stands_in_its_page(pages: dict[str, Path]) -> None:
    for name, command in COMMANDS.items():
        text = pages[f"myisam-advisor-{name}.1"].read_text().replace("\\-", "-")
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--"):
                    # One that is only refused, with a reason, is in no help.
                    assert (option in text) is not getattr(parameter, "hidden", False), f"{name} {option}"


@pytest.mark.parametrize("shell", sorted(COMPLETION_FILES))
def test_each_shell_can_read_its_completion(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "completion"
    path.write_text(completions()[COMPLETION_FILES[shell]])
    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ex", {"explain"}),
        ("explain key-buffer", {"key-buffer-too-large", "key-buffer-too-small"}),
        ("facts tab", {"tables"}),
        ("check --fail-", {"--fail-on"}),
        ("check --format j", {"json"}),
    ],
)
def test_what_is_offered(words: str, offered: set[str]) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "COMP_WORDS": f"myisam-advisor {words}"}
    environment |= {"COMP_CWORD": str(len(words.split())), "_MYISAM_ADVISOR_COMPLETE": "bash_complete"}
    done = subprocess.run([str(PROGRAM)], capture_output=True, text=True, env=environment, check=True)
    assert {line.split(",")[1] for line in done.stdout.splitlines()} == offered


def test_fish_completes(tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    path = tmp_path / "completion.fish"
    path.write_text(completions()[COMPLETION_FILES["fish"]])
    environment = {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    words = ["fish", "-c", f"source {path}; complete -C 'myisam-advisor explain key-b'"]
    assert subprocess.run(words, capture_output=True, text=True, env=environment, check=True).stdout.split() == ["key-buffer-too-large", "key-buffer-too-small"]

"""Putting the plugin where munin-node finds it, and taking it away again. What somebody else wrote or changed is left alone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from myisam_advisor.munin.places import SOCKET
from myisam_advisor.texts.refused_files import remedy_of
from myisam_advisor.texts.whole_files import OutputDirectory
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.outside.foreign_files import read_small

NAME = "myisam_advisor"
FRAGMENT = "myisam-advisor"
MAXIMUM_FRAGMENT_BYTES = 1 << 16
AS_ROOT = "Run as root."
RESTART = "Now restart munin-node: systemctl restart munin-node"
_MARK = "# Written by `myisam-advisor munin install`, taken away by `myisam-advisor munin uninstall` while it is unchanged: "


@dataclass(frozen=True, slots=True)
class Settings:
    """What the fragment of plugin-conf.d says; `instance` names one of several servers on this machine."""

    socket: Path = SOCKET
    program: str = "myisam-advisor"
    defaults_file: Path | None = None
    user: str | None = None
    instance: str = ""

    def lines(self) -> Iterator[str]:
        """In munin-node's format."""
        yield f"[{_named(NAME, '_', self.instance)}]"
        if self.user:
            yield f"user {self.user}"
        yield f"env.socket {self.socket}"
        yield f"env.advisor_program {self.program}"
        if self.defaults_file:
            yield f"env.defaults_file {self.defaults_file}"


def install(plugins: Path, configurations: Path, settings: Settings) -> list[str]:
    """Link the plugin and write its fragment; what was done, line by line. Doing it again changes nothing.

    Raises UserError where munin-node is not there, cannot read the plugin, or somebody else's file is in the way.
    """
    _refuse_line_breaks(settings)
    link, fragment = _places(plugins, configurations, settings.instance)
    for folder in (plugins, configurations):
        if not folder.is_dir():
            raise UserError(
                f"{folder} does not exist: install munin-node first, or name the directory (--plugins, --plugin-conf)."
            )
    plugin = plugin_file()
    _refuse_unreadable(plugin)
    if link.exists() and not link.is_symlink():
        raise UserError(f"{link} is a file and no link: move it away first.")
    written = _write(
        fragment, settings
    )  # where that fails, as on a full disk, munin-node gets no plugin without settings
    return [_link(link, plugin), written, RESTART]


def uninstall(plugins: Path, configurations: Path, instance: str = "") -> list[str]:
    """Take away what `install` put there of this instance; what was done, line by line."""
    link, fragment = _places(plugins, configurations, instance)
    done = []
    if link.is_symlink() and link.readlink().name == NAME:
        _remove(link)
        done.append(f"removed {link}")
    elif os.path.lexists(link):
        done.append(f"left {link}: it is not a link to the plugin")
    if fragment.exists():
        if _is_ours(fragment):
            _remove(fragment)
            done.append(f"removed {fragment}")
        else:
            done.append(f"left {fragment}: it was changed")
    return [*done, RESTART] if done else ["nothing to remove"]


def plugin_file() -> Path:
    """The plugin as it was installed with this package."""
    return Path(str(resources.files("myisam_advisor.munin_plugin") / NAME)).resolve()


def _places(plugins: Path, configurations: Path, instance: str) -> tuple[Path, Path]:
    """The link and the fragment. Raises UserError for a name that munin would not take in those of graphs."""
    if not re.fullmatch(r"[A-Za-z0-9_]*", instance):
        raise UserError(f"{instance!r} cannot name a server in munin: use letters, digits and _.")
    return plugins / _named(NAME, "_", instance), configurations / _named(FRAGMENT, "-", instance)


def _named(name: str, between: str, instance: str) -> str:
    return f"{name}{between}{instance}" if instance else name


def _refuse_line_breaks(settings: Settings) -> None:
    for text in settings.lines():
        if not text.isprintable():
            raise UserError(
                f"{text!r} cannot stand in a munin configuration: it holds a line break or control character."
            )


def _refuse_unreadable(plugin: Path) -> None:
    """Munin-node runs plugins as an unprivileged user."""
    for part in (plugin, *plugin.parents):
        needed = stat.S_IXOTH | (stat.S_IROTH if part == plugin else 0)
        if part.stat().st_mode & needed != needed:
            raise UserError(
                f"munin's user cannot reach {plugin}: {part} is closed to others. "
                "Install myisam-advisor where everybody may read it, such as /opt."
            )


def _link(link: Path, plugin: Path) -> str:
    if link.is_symlink() and link.readlink() == plugin:
        return f"{link} is there"
    if link.is_symlink() and link.readlink().name != NAME:
        raise UserError(f"{link} leads to {link.readlink()}: move it away first.")
    fresh = link.with_name(f".{NAME}.{os.getpid()}")
    try:
        fresh.symlink_to(plugin)
        fresh.replace(link)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise UserError(f"cannot make {link}: {error.strerror}. {remedy_of(error, AS_ROOT)}") from None
    return f"linked {link} to {plugin}"


def _write(fragment: Path, settings: Settings) -> str:
    body = "".join(f"{line}\n" for line in settings.lines())
    text = f"{_MARK}{_digest(body)}\n{body}"
    if fragment.is_file():
        if _present(fragment) == text:
            return f"{fragment} is there"
        if not _is_ours(fragment):
            return f"left {fragment}: it was changed, and holds your settings"
    try:
        with OutputDirectory(fragment.parent) as directory, directory.file(fragment.name) as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"cannot write {fragment}: {error.strerror}. {remedy_of(error, AS_ROOT)}") from None
    return f"wrote {fragment}"


def _present(fragment: Path) -> str:
    """What is in it. Raises UserError."""
    try:
        return read_small(fragment.resolve(), MAXIMUM_FRAGMENT_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise UserError(f"cannot read {fragment}: {error.strerror}. {remedy_of(error, AS_ROOT)}") from None


def _is_ours(fragment: Path) -> bool:
    """Whether it is as `install` wrote it."""
    first, _, body = _present(fragment).partition("\n")
    return first == _MARK + _digest(body)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise UserError(f"cannot remove {path}: {error.strerror}. {remedy_of(error, AS_ROOT)}") from None

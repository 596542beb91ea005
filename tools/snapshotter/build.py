"""Builds `myisam-snapshot`: `python -m tools.snapshotter.build FILE`.

The modules that a snapshot runs through, found by their imports and lowered to Python 3.6, in one file that Python runs as it is (PEP 441, "zip
application"). The first of them is read by any Python since 2.6, and says which is needed. The same tree gives the same bytes.
"""

from __future__ import annotations

import ast
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from tools.snapshotter.lowering import HELPERS, REPLACED_MODULES, LoweringError, lowered

ROOT = next(folder for folder in Path(__file__).parents if (folder / "setup.cfg").exists())
PARTS = ROOT / "tools" / "snapshotter" / "parts"
PACKAGES = {"myisam_exporter": ROOT / "exporter", "myisam_advisor": ROOT / "advisor", "tools": ROOT}
PROGRAM = "tools.snapshotter.parts.program"
# Modules of ours in the place of others.
INSTEAD = {"myisam_exporter.server.driver": PARTS / "client_driver.py"}
# Found by their folder, not by an import.
FOLDERS = ("myisam_exporter.collectors",)
# Of others, imported only where they are needed, and done without where they are missing.
OPTIONAL = frozenset({"cryptography", "jinja2"})
SHEBANG = b"#!/usr/bin/env python3\n"
# The earliest that a zip archive can say: no time of building.
TIME = (1980, 1, 1, 0, 0, 0)
LEAST = (3, 6)
FIRST_WORDS = """\
# myisam-snapshot: made of myisam-advisor's own modules by tools/snapshotter; `unzip` shows them.
# License: GPL-3.0-or-later, https://www.gnu.org/licenses/gpl-3.0.html
import sys

if sys.version_info < (3, 6):
    sys.stderr.write(
        "myisam-snapshot: this is Python %d.%d, and Python 3.6 or later is needed. Look for another: ls /usr/bin/python3* /opt/rh/*/root/usr/bin/python3\\n"
        % sys.version_info[:2]
    )
    sys.exit(2)

from tools.snapshotter.parts.program import main

sys.exit(main())
"""


class BuildError(Exception):
    """The file cannot be made of this tree."""


def build() -> bytes:
    """The whole file."""
    archive = BytesIO()
    archive.write(SHEBANG)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, text in sorted(files().items()):
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            file.writestr(entry, text.encode("utf-8"), compresslevel=9)
    return archive.getvalue()


def files() -> dict[str, str]:
    """Names in the archive and what is there. Raises BuildError, and LoweringError for a module that older Pythons could not run."""
    texts = {"__main__.py": FIRST_WORDS}
    for module, path in sorted(modules().items()):
        name = module.replace(".", "/") + ("/__init__.py" if path.name == "__init__.py" else ".py")
        texts[name] = lowered(path.read_text("utf-8"), module)
    for name, text in texts.items():
        if name != "__main__.py":
            _refuse_newer(name, text)
    return texts


def modules() -> dict[str, Path]:
    """Every module that is needed, and where it is. Raises BuildError for one of another project's."""
    found: dict[str, Path] = {}
    waiting = [PROGRAM, HELPERS, *(module for folder in FOLDERS for module in _in_folder(folder))]
    while waiting:
        module = waiting.pop()
        path = _path_of(module)
        if path is None or module in found or module in REPLACED_MODULES:
            continue
        found[module] = path
        waiting += [module.rpartition(".")[0], *imported(path.read_text("utf-8"), module)]
    return found


def imported(source: str, module: str) -> Iterator[str]:
    """What a module imports when it runs, of ours and what stands for others. Raises BuildError for what is neither that nor Python's own."""
    for node in ast.walk(_running(ast.parse(source))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            top = name.partition(".")[0]
            if top in PACKAGES or name in INSTEAD:
                yield name
            elif top not in sys.stdlib_module_names and top not in OPTIONAL:
                raise BuildError(
                    f"{module} imports {name}, which an old host has not: take it apart, or say in tools/snapshotter/build.py what stands for it"
                )


class _Running(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" else self.generic_visit(node)


def _running(tree: ast.Module) -> ast.AST:
    """Without what is for the type checker."""
    running: ast.AST = _Running().visit(tree)
    return running


def _in_folder(package: str) -> Iterator[str]:
    path = _path_of(package)
    assert path is not None
    yield from (f"{package}.{file.stem}" for file in sorted(path.parent.glob("*.py")) if file.stem != "__init__")


def _path_of(module: str) -> Path | None:
    """The module's file; None for a name in a module."""
    if module in INSTEAD:
        return INSTEAD[module]
    package = PACKAGES.get(module.partition(".")[0])
    if package is None:
        return None
    path = package / module.replace(".", "/")
    return next((one for one in (path.with_suffix(".py"), path / "__init__.py") if one.exists()), None)


def _refuse_newer(name: str, text: str) -> None:
    try:
        ast.parse(text, name, feature_version=LEAST)
    except SyntaxError as error:
        raise BuildError(f"{name} came out as no Python {LEAST[0]}.{LEAST[1]}: {error}") from None


def main(words: list[str]) -> int:
    """Write the file; 2 for wrong use, 1 where it cannot be made."""
    if len(words) != 1:
        print("use: python -m tools.snapshotter.build FILE", file=sys.stderr)
        return 2
    try:
        made = build()
    except (BuildError, LoweringError) as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    path = Path(words[0])
    path.write_bytes(made)
    path.chmod(0o755)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes what a package brings along: a software bill of materials (CycloneDX 1.6, JSON) beside each wheel, Debian package and RPM.

Usage: sbom.py LOCK FILE...     LOCK: the locked run-time libraries (requirements/runtime.txt); FILE: *.whl, *.deb or *.rpm

A wheel's bill names the versions and hashes that were tested with it. A Debian package's names Debian's packages, an RPM's those that
Fedora's provide, whose versions the system decides that installs it. The same package gives the same bytes: times are those of SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from uuid import UUID, uuid5

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

# Bills of this project: serial numbers that the same package always gets again.
NAMESPACE = UUID("6ff40f1c-5d5c-5cb7-b7a2-2f4f3f4a8d4e")
LOCKED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)(?: ; (?P<marker>[^\\]+?))?(?P<hashes>(?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)
NEEDED = re.compile(r"^(?P<name>[a-z0-9.+-]+)(?: \((?P<versions>[^)]+)\))?")


def main(arguments: list[str]) -> int:
    """Write FILE.cdx.json beside each file."""
    lock, *files = map(Path, arguments)
    for file in files:
        parts = locked(lock) if file.suffix == ".whl" else needed(file) if file.suffix == ".deb" else required(file)
        text = document(file, list(parts))
        file.with_name(f"{file.name}.cdx.json").write_text(text)
    return 0


def locked(lock: Path) -> Iterator[Component]:
    """The libraries of a lock file. Raises ValueError where a line is not understood: none may be left out."""
    text = lock.read_text("ascii")
    found = list(LOCKED.finditer(text))
    if len(found) != len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE)):
        raise ValueError(f"{lock}: not every line names a version and hashes")
    for line in found:
        yield Component(
            name=line["name"],
            version=line["version"],
            purl=PackageURL("pypi", None, line["name"], line["version"]),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=value) for value in re.findall("sha256:([0-9a-f]+)", line["hashes"])],
            properties=[Property(name="python:marker", value=line["marker"])] if line["marker"] else None,
        )


def needed(package: Path) -> Iterator[Component]:
    """What a Debian package depends on, of alternatives the first."""
    for one in field(package, "Depends").split(", "):
        found = NEEDED.match(one)
        if found is None:
            raise ValueError(f"{package.name}: not understood: Depends: {one}")
        yield Component(
            name=found["name"],
            purl=PackageURL("deb", "debian", found["name"]),
            properties=[Property(name="debian:versions", value=found["versions"])] if found["versions"] else None,
        )


def required(package: Path) -> Iterator[Component]:
    """What an RPM requires, but for the abilities of rpm itself and what its own scriptlets run."""
    for line in queried(package, "[%{REQUIRENAME} %{REQUIREFLAGS:depflags} %{REQUIREVERSION}\n]").splitlines():
        name, _, versions = line.partition(" ")
        if name.startswith(("rpmlib(", "/", "systemd")):
            continue
        module = re.fullmatch(r"python3dist\((.+)\)", name)
        yield Component(
            name=module[1] if module else name,
            # Of a Python module it is known who makes it, not which package of the system brings it.
            purl=PackageURL("pypi", None, module[1]) if module else PackageURL("rpm", "fedora", name),
            properties=[Property(name="rpm:versions", value=versions.strip())] if versions.strip() else None,
        )


def document(file: Path, parts: list[Component]) -> str:
    """The bill, valid by CycloneDX's own schema. Raises ValueError where it is not."""
    content = HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(file.read_bytes()).hexdigest())
    name, version = named(file)
    kind = PackageURL({".whl": "pypi"}.get(file.suffix, file.suffix[1:]), None, name, version)
    whole = Component(type=ComponentType.APPLICATION, name=name, version=version, purl=kind, hashes=[content], bom_ref=file.name)
    for part in parts:
        part.bom_ref.value = str(part.purl) + "".join(f" ; {one.value}" for one in part.properties)
    bom = Bom(components=parts, serial_number=uuid5(NAMESPACE, f"{file.name} {content.content}"))
    bom.metadata.component = whole
    bom.metadata.timestamp = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    bom.register_dependency(whole, parts)
    text: str = JsonV1Dot6(bom).output_as_string(indent=1)
    if errors := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"{file.name}: {errors}")
    return f"{text}\n"


def named(file: Path) -> tuple[str, str]:
    """Name and version, from the package itself or, of a wheel, from the name of its file."""
    if file.suffix == ".whl":
        name, version, *_ = file.name.split("-")
        return name.replace("_", "-"), version
    if file.suffix == ".rpm":
        return queried(file, "%{NAME}"), queried(file, "%{VERSION}-%{RELEASE}")
    return field(file, "Package"), field(file, "Version")


def queried(package: Path, form: str) -> str:
    """What an RPM says of itself."""
    command = ["rpm", "--query", "--nosignature", "--package", str(package), "--queryformat", form]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def field(package: Path, name: str) -> str:
    """A field of a Debian package's control file."""
    return subprocess.run(["dpkg-deb", "--field", str(package), name], check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The image as it is written: what its specification wants of digests and sizes, and that the same files give the same bytes."""

import gzip
import hashlib
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tools.image.build import image_of
from tools.image.layout import archive_of, layer_of
from tools.image.root import STATE, USER_NUMBER

IMAGE = image_of("1.2.3", "amd64", 1_700_000_000, "a description")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for folder in ("usr/bin", "etc", STATE):
        (root / folder).mkdir(parents=True)
    (root / "usr/bin/program").write_text("text")
    (root / "usr/bin/program").chmod(0o6755)
    (root / "bin").symlink_to("usr/bin")
    return root


def members(archive: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return {member.name: member for member in opened}


def blobs(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        files = [(member.name, opened.extractfile(member)) for member in opened]
        return {name: file.read() for name, file in files if file is not None}


def test_digests_and_sizes_are_those_of_the_blobs(root: Path) -> None:
    files = blobs(archive_of(root, IMAGE))

    def blob(descriptor: dict[str, Any]) -> bytes:
        found = files[f"blobs/sha256/{descriptor['digest'].removeprefix('sha256:')}"]
        assert (len(found), hashlib.sha256(found).hexdigest()) == (descriptor["size"], descriptor["digest"].removeprefix("sha256:"))
        return found

    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (entry,) = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(blob(entry))
    config = json.loads(blob(manifest["config"]))
    (layer,) = (gzip.decompress(blob(descriptor)) for descriptor in manifest["layers"])
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    assert layer == layer_of(root, IMAGE)
    assert config["config"]["User"] == f"{USER_NUMBER}:{USER_NUMBER}"
    assert config["config"]["Labels"]["org.opencontainers.image.version"] == manifest["annotations"]["org.opencontainers.image.version"] == "1.2.3"
    assert config["created"] == "2023-11-14T22:13:20Z"


def test_files_are_roots_but_the_state_and_none_gives_its_owners_rights_away(root: Path) -> None:
    found = members(layer_of(root, IMAGE))
    assert {name: (member.uid, member.gid) for name, member in found.items() if member.uid} == {STATE: (USER_NUMBER, USER_NUMBER)}
    assert {member.mtime for member in found.values()} == {IMAGE.seconds}
    assert {member.uname for member in found.values()} == {""}
    assert found["usr/bin/program"].mode == 0o755
    assert found["bin"].linkname == "usr/bin"
    # Each folder stands before what is in it.
    assert all(list(found).index(str(Path(name).parent)) < place for place, name in enumerate(found) if '/' in name)


def test_the_same_files_give_the_same_bytes(root: Path, tmp_path: Path) -> None:
    first = archive_of(root, IMAGE)
    os.utime(root / "usr/bin/program", (1, 1))
    (tmp_path / "elsewhere").mkdir()
    root.rename(tmp_path / "elsewhere" / "root")
    assert archive_of(tmp_path / "elsewhere" / "root", IMAGE) == first


def test_a_device_is_refused(root: Path) -> None:
    os.mkfifo(root / "etc" / "fifo")
    with pytest.raises(ValueError, match="neither a file"):
        layer_of(root, IMAGE)

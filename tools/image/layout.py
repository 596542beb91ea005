"""Writes an OCI image of one layer, and always the same one of the same files: an archive of the layout, as skopeo and podman call `oci-archive`.

Sources: OCI image-spec 1.0: image-layout.md, manifest.md, config.md, layer.md, annotations.md.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
# What skopeo, podman and umoci take for the name of the image within the archive.
NAME_ANNOTATION = "org.opencontainers.image.ref.name"
BLOBS = "blobs/sha256"
# A program with another user's or group's rights has no place in it.
KEPT_MODE = 0o777 | stat.S_ISVTX


@dataclass(frozen=True, slots=True)
class Image:
    """What is said of the files: `config` is the part of that name in the specification; `owned` are paths of another user than root."""

    name: str
    architecture: str
    seconds: int
    config: Mapping[str, Any]
    annotations: Mapping[str, str]
    owned: Mapping[str, int]


def archive_of(root: Path, image: Image) -> bytes:
    """The whole archive."""
    layer = layer_of(root, image)
    # Without a time and a name, which gzip writes otherwise.
    packed = gzip.compress(layer, compresslevel=9, mtime=0)
    created = datetime.fromtimestamp(image.seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = _json(
        {
            "created": created,
            "architecture": image.architecture,
            "os": "linux",
            "config": image.config,
            "rootfs": {"type": "layers", "diff_ids": [digest_of(layer)]},
            "history": [{"created": created, "created_by": "script/package image"}],
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": _descriptor(CONFIG_TYPE, config),
            "layers": [_descriptor(LAYER_TYPE, packed)],
            "annotations": {**image.annotations, "org.opencontainers.image.created": created},
        }
    )
    entry = {
        **_descriptor(MANIFEST_TYPE, manifest),
        "annotations": {NAME_ANNOTATION: image.name},
        "platform": {"architecture": image.architecture, "os": "linux"},
    }
    index = _json({"schemaVersion": 2, "manifests": [entry]})
    files = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": index,
        **{f"{BLOBS}/{digest_of(blob).partition(':')[2]}": blob for blob in (config, manifest, packed)},
    }
    return _tar_of(files, image.seconds)


def layer_of(root: Path, image: Image) -> bytes:
    """The files below a folder as they are in the image: root's, in the order of their names, all of its time."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in _below(root):
            name = path.relative_to(root).as_posix()
            entry = archive.gettarinfo(path, name)
            if not (entry.isfile() or entry.isdir() or entry.issym() or entry.islnk()):
                raise ValueError(f"{path} is neither a file, nor a folder, nor a link")
            entry.uid = entry.gid = image.owned.get(name, 0)
            entry.uname = entry.gname = ""
            entry.mode &= KEPT_MODE
            entry.mtime = image.seconds
            if not entry.isfile():
                archive.addfile(entry)
                continue
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return written.getvalue()


def digest_of(blob: bytes) -> str:
    """A blob's name in the layout."""
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders.sort()
        # os.walk lists links to folders among the folders, and does not follow them.
        yield from (Path(folder, name) for name in sorted([*folders, *files]))


def _descriptor(media_type: str, blob: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": digest_of(blob), "size": len(blob)}


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _tar_of(files: Mapping[str, bytes], seconds: int) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(files[name]), seconds, 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    return written.getvalue()

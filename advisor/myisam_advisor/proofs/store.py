"""The directory of proofs: a file each, read by whoever may, written with nobody's rights but those of its owner.

The state directory is the service's user's own, and root's commands keep their proofs in it, so that the daemon finds them. Root's rights
are of no use there to anybody: a child that has become that user writes the file. Reading follows no link, and believes nothing.

Sources: setresuid(2); prctl(2), PR_SET_DUMPABLE: a process that changed its user cannot be traced by that user.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from myisam_advisor.proofs.document import MAXIMUM_BYTES, ProofError, proof_of, text_of
from myisam_advisor.proofs.proof import Proof
from myisam_advisor.texts.state_directory import SYSTEM_DIRECTORY, state_directory
from myisam_advisor.texts.whole_files import OutputDirectory
from myisam_exporter.errors import UserError
from myisam_exporter.outside.foreign_files import ForeignFiles

NAME = "proofs"
# As the history: for its user and that user's group.
FILE_MODE, DIRECTORY_MODE = 0o640, 0o750
MAXIMUM_PROOFS = 500
MAXIMUM_NAMES = 5000  # of whatever somebody put there
MAXIMUM_SAID = 1000
SETTLED_SECONDS = 2.0
_OTHER_REMEDY = " Give another --output."
_FILE_NAME = re.compile(r"[0-9a-f]{16}\.json", re.ASCII)


@dataclass(frozen=True, slots=True)
class KeptProofs:
    """What a store holds, the newest first, at the moment `now`; `refused` says which of its files are no proofs, and why."""

    proofs: tuple[Proof, ...] = ()
    refused: tuple[str, ...] = ()
    now: float = field(default=0.0, compare=False)


NO_PROOFS = KeptProofs()


class ProofStore:
    """The proofs in one directory, which need not be there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._read: tuple[object, KeptProofs] = (None, NO_PROOFS)

    def current(self, now: float | None = None) -> KeptProofs:
        """All of them; read again only where the directory changed: files come and go by their names, and are never written over."""
        moment = time.time() if now is None else now
        try:
            status = self.directory.stat(follow_symlinks=False)
        except (OSError, ValueError):
            return KeptProofs(now=moment)
        state = (status.st_ino, status.st_dev, status.st_mtime_ns)
        if self._read[0] != state:
            # What was changed just now may change again within one tick of the file system's clock.
            is_settled = time.time() - status.st_mtime > SETTLED_SECONDS
            self._read = (state if is_settled else None, self._all())
        known = self._read[1]
        return KeptProofs(known.proofs, known.refused, moment)

    def keep(self, proof: Proof) -> Path:
        """Write it, in the place of the same trial's before. Raises UserError that says why it cannot be kept."""
        try:
            text = text_of(proof)
        except ProofError as error:
            raise UserError(f"the proof cannot be kept: {error}.") from None
        self._as_owner(lambda: self._write(f"{proof.id}.json", text))
        return self.directory / f"{proof.id}.json"

    def forget(self, proof_id: str) -> None:
        """Remove it. Raises UserError where there is none of this id, or it cannot be removed."""
        name = f"{proof_id}.json"
        if not _FILE_NAME.fullmatch(name):
            raise UserError(f"{proof_id!r} is no proof's id: `myisam-advisor proofs` lists them.")
        self._as_owner(lambda: self._remove(name))

    def _all(self) -> KeptProofs:
        files = ForeignFiles()
        found: list[Proof] = []
        refused: list[str] = []
        try:
            directory = files.open_directory(str(self.directory))
        except OSError as error:
            return KeptProofs((), (f"{self.directory} cannot be read: {error.strerror}",))
        try:
            with os.scandir(directory) as entries:
                seen = [entry.name for entry, _ in zip(entries, range(MAXIMUM_NAMES), strict=False)]
            names = sorted(name for name in seen if _FILE_NAME.fullmatch(name))
            for name in names[:MAXIMUM_PROOFS]:
                try:
                    found.append(_proof_in(files, name, directory))
                except (OSError, ProofError) as error:
                    why = getattr(error, "strerror", None) or error
                    refused.append(f"{self.directory / name} is not used: {why}")
            if len(names) > MAXIMUM_PROOFS:
                refused.append(f"{self.directory} holds {len(names)} proofs: {MAXIMUM_PROOFS} are read")
        except OSError as error:
            refused.append(f"{self.directory} cannot be read: {error.strerror}")
        finally:
            os.close(directory)
        return KeptProofs(tuple(sorted(found, key=lambda one: (-one.taken_at, one.id))), tuple(refused))

    def _write(self, name: str, text: str) -> None:
        with _opened(self.directory, create=True) as directory:
            if not directory.holds(name) and len(os.listdir(self.directory)) >= MAXIMUM_PROOFS:
                raise UserError(
                    f"{self.directory} holds {MAXIMUM_PROOFS} proofs: forget some (myisam-advisor proofs --forget ID)."
                )
            with directory.file(name) as file:
                file.write(text)
                file.flush()
                os.fchmod(file.fileno(), FILE_MODE)

    def _remove(self, name: str) -> None:
        with _opened(self.directory) as directory:
            if not directory.holds(name):
                raise UserError(f"there is no proof {name.partition('.')[0]} in {self.directory}.")
            directory.remove(name)

    def _as_owner(self, work: Callable[[], None]) -> None:
        """Do it with the rights of the directory's owner; what goes wrong is told as ours. Raises UserError."""
        try:
            owner = _owner_of(self.directory)
            if os.geteuid() != 0 or owner.st_uid == 0:
                work()
            else:
                _in_a_child(owner, work)
        except OSError as error:
            why = error.strerror or error
            raise UserError(f"{self.directory} cannot be written by this user: {why}.") from None
        except UserError as error:
            raise UserError(str(error).removesuffix(_OTHER_REMEDY)) from None


def proof_stores() -> list[ProofStore]:
    """Where a command looks for proofs: the user's own directory, then the system's."""
    return [ProofStore(path / NAME) for path in dict.fromkeys((state_directory(), SYSTEM_DIRECTORY))]


def own_store() -> ProofStore:
    """Where a command keeps its proofs."""
    return ProofStore(state_directory() / NAME)


def of_all(stores: Sequence[ProofStore], now: float | None = None) -> KeptProofs:
    """What several stores hold; of the same proof in two, the newer one."""
    moment = time.time() if now is None else now
    kept = [store.current(moment) for store in stores]
    newest: dict[str, Proof] = {}
    for proof in sorted((one for each in kept for one in each.proofs), key=lambda one: (-one.taken_at, one.id)):
        newest.setdefault(proof.id, proof)
    return KeptProofs(tuple(newest.values()), tuple(why for each in kept for why in each.refused), moment)


def _proof_in(files: ForeignFiles, name: str, directory: int) -> Proof:
    descriptor = files.open(name, directory)
    try:
        content = os.read(descriptor, MAXIMUM_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MAXIMUM_BYTES:
        raise ProofError(f"it is larger than {MAXIMUM_BYTES} bytes")
    try:
        proof = proof_of(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise ProofError("it is not UTF-8 text") from None
    if f"{proof.id}.json" != name:
        raise ProofError("its name is not that of what it holds")
    return proof


def _opened(directory: Path, *, create: bool = False) -> OutputDirectory:
    """The directory, made with the mode of the state directory where it is not there; root goes through nobody else's."""
    is_root = os.geteuid() == 0
    if create and not os.path.lexists(directory):
        with OutputDirectory(directory.parent, create=True, only_ours=is_root):
            pass
        with contextlib.suppress(FileExistsError):
            directory.mkdir(DIRECTORY_MODE)
    return OutputDirectory(directory, only_ours=is_root)


def _owner_of(directory: Path) -> os.stat_result:
    """What is known of the directory, or of the nearest one above it that is there. A link tells whose it is itself."""
    for path in (directory, *directory.parents):
        try:
            status = path.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(status.st_mode):
            raise UserError(f"{path} is no directory: nothing is kept there.")
        return status
    raise UserError(f"{directory} has no directory above it.")


def _in_a_child(owner: os.stat_result, work: Callable[[], None]) -> None:
    """Do it in a child that is this user, and no more; what it says of a failure comes through a pipe. Raises UserError."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os._exit(_worked_as(owner, work, writing))
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read(MAXIMUM_SAID)
    finally:
        _, status = os.waitpid(child, 0)
    if status:
        raise UserError(said.decode("utf-8", "replace") or "the proof could not be written by the directory's user.")


def _worked_as(owner: os.stat_result, work: Callable[[], None], writing: int) -> int:
    """The child's part: its exit status."""
    try:
        os.setgroups([])
        os.setresgid(owner.st_gid, owner.st_gid, owner.st_gid)
        os.setresuid(owner.st_uid, owner.st_uid, owner.st_uid)
        work()
        return 0
    except BaseException as error:
        said = str(error) if isinstance(error, UserError) else f"{getattr(error, 'strerror', None) or error!r}"
        with contextlib.suppress(OSError):
            os.write(writing, said.encode("utf-8", "replace")[:MAXIMUM_SAID])
        return 1

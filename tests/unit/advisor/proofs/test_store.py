"""The directory of proofs: what is kept is found again, what others put there is refused by name, and root writes as its owner."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest

from myisam_advisor.proofs.document import MAXIMUM_BYTES, text_of
from myisam_advisor.proofs.kept_files import KeptFiles
from myisam_advisor.proofs.store import PROOFS, KeptProofs, ProofStore, of_all, own_store
from myisam_advisor.reports.proofs_in_words import as_text
from myisam_exporter.errors import UserError
from tests.support.mounts import mounted
from tests.support.proofs import NOW, proof

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root writes for others")


@pytest.fixture
def store(tmp_path: Path) -> ProofStore:
    return ProofStore(tmp_path / "state" / "proofs")


@pytest.fixture
def others() -> Iterator[Path]:
    """A state directory of another user's, in a place that user may enter."""
    folder = Path(mkdtemp(prefix="proofs-", dir="/tmp"))
    folder.chmod(0o755)
    state = folder / "state"
    state.mkdir(0o750)
    os.chown(state, NOBODY, NOBODY)
    yield state
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink() if path.is_symlink() or path.is_file() else path.rmdir()
    folder.rmdir()


def test_where_there_is_none_nothing_was_proved(store: ProofStore) -> None:
    assert store.current(NOW) == KeptProofs()


def test_what_is_kept_is_found_again_the_newest_first(store: ProofStore) -> None:
    old, new = proof(objects=["a.b"], days=9), proof(days=1)
    path = store.keep(old)
    store.keep(new)
    assert store.current(NOW).proofs == (new, old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o750
    again = proof(days=0, times=1.3)
    store.keep(again)
    assert store.current(NOW).proofs == (again, old)
    store.forget(again.id)
    assert store.current(NOW).proofs == (old,)


def test_a_directory_that_did_not_change_is_not_read_again(store: ProofStore, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.keep(proof())
    os.utime(path.parent, (1, 1))
    first = store.current(NOW)
    assert len(first.proofs) == 1
    monkeypatch.setattr(KeptFiles, "_all", lambda _: pytest.fail("read again"))
    assert store.current(NOW + 1) == first


@pytest.mark.parametrize("name", ["x", "../../etc/passwd", "", "0" * 15])
def test_what_is_no_id_is_not_forgotten(store: ProofStore, name: str) -> None:
    with pytest.raises(UserError, match="is not a proof's id"):
        store.forget(name)


def test_what_is_not_there_is_named(store: ProofStore) -> None:
    store.keep(proof())
    with pytest.raises(UserError, match="there is no proof 0000000000000000"):
        store.forget("0" * 16)


def test_hostile_files_are_refused_by_name_and_the_others_read(store: ProofStore, tmp_path: Path) -> None:
    kept = proof()
    folder = store.keep(kept).parent
    secret = tmp_path / "secret"
    secret.write_text(text_of(proof(objects=["x.y"])))
    (folder / "0000000000000001.json").symlink_to(secret)
    os.mkfifo(folder / "0000000000000002.json")
    (folder / "0000000000000003.json").mkdir()
    (folder / "0000000000000004.json").write_bytes(b"{" * (MAXIMUM_BYTES + 1))
    (folder / "0000000000000005.json").write_bytes(b"\xff\xfe")
    (folder / "0000000000000006.json").write_text(text_of(kept))
    (folder / "README").write_text("passed over")
    (folder / f".{kept.id}.json.0123").write_text("half written")
    found = store.current(NOW)
    assert found.proofs == (kept,)
    assert [why.rpartition("/")[2].partition(" ")[0] for why in found.refused] == [f"000000000000000{number}.json" for number in range(1, 7)]
    said = " ".join(found.refused)
    assert all(why in said for why in ("symbolic link", "not a regular file", "larger than", "not UTF-8", "its name is not that"))


def test_no_more_are_read_or_kept_than_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("myisam_advisor.proofs.store.PROOFS", replace(PROOFS, most=3))
    store = ProofStore(tmp_path / "state" / "proofs")
    first = [proof(objects=[f"a.t{number}"]) for number in range(3)]
    for one in first:
        store.keep(one)
    with pytest.raises(UserError, match="holds 3 proofs: forget some"):
        store.keep(proof(objects=["a.more"]))
    store.keep(first[0])  # in its own place
    more = proof(objects=["a.more"])
    (store.directory / f"{more.id}.json").write_text(text_of(more))
    found = store.current(NOW)
    assert len(found.proofs) == 3
    assert "holds 4 proofs: 3 are read" in found.refused[0]


def test_other_files_that_lie_there_take_no_place_of_a_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("myisam_advisor.proofs.store.PROOFS", replace(PROOFS, most=2))
    store = ProofStore(tmp_path / "state" / "proofs")
    folder = store.keep(proof()).parent
    for name in ("README", "notes.txt", f".{proof().id}.json.0123"):
        (folder / name).write_text("passed over")
    store.keep(proof(objects=["a.more"]))
    assert len(store.current(NOW).proofs) == 2
    with pytest.raises(UserError, match="holds 2 proofs: forget some"):
        store.keep(proof(objects=["a.third"]))


@pytest.mark.parametrize("call", ["open", "read"])
def test_what_could_not_be_read_once_is_tried_again(store: ProofStore, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """The daemon looks often: rights of a file, and what a disk does, change without the directory."""

    def failed(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    store.keep(proof())
    os.utime(store.directory, (1, 1))
    with monkeypatch.context() as patched:
        patched.setattr(os, call, failed)
        found = store.current(NOW)
    assert "Input/output error" in str((found.refused, found.closed))
    assert store.current(NOW) == KeptProofs((proof(),))


def test_of_several_directories_the_newer_counts(tmp_path: Path) -> None:
    own, system = ProofStore(tmp_path / "own"), ProofStore(tmp_path / "system")
    own.keep(proof(days=9))
    system.keep(proof(days=1))
    assert of_all([own, system], NOW).proofs == (proof(days=1),)


def test_directories_that_cannot_be_read_are_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    stores = [ProofStore(tmp_path / name) for name in ("own", "system", "sound")]
    for store in stores[:2]:
        store.directory.symlink_to(tmp_path / "elsewhere")
    stores[2].keep(proof())
    found = of_all(stores, NOW)
    assert found.proofs == (proof(),)
    assert len(found.refused) == 1
    assert f"the proofs in {tmp_path}/own and in {tmp_path}/system cannot be read: " in found.refused[0]
    assert of_all(stores, NOW + 1).refused == found.refused


def test_the_state_directory_is_where_it_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", f"{tmp_path}:/elsewhere")
    assert own_store().directory == tmp_path / "proofs"


def test_a_state_directory_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(UserError, match=r"is not a directory|cannot be written"):
        ProofStore(tmp_path / "state" / "proofs").keep(proof())


@as_root
@pytest.mark.parametrize("owner", [0, NOBODY])
def test_a_full_disk_is_told_with_its_place(others: Path, owner: int) -> None:
    with mounted(others, "-t", "tmpfs", "-o", "size=32k,mode=0755", "myisam-advisor-test") as state:
        store = ProofStore(state / "proofs")
        os.chown(state, owner, owner)
        with (state / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while filler.write(bytes(4096)):
                pass
        with pytest.raises(UserError, match=rf"^{state}/proofs cannot be written: No space left on device\.$"):
            store.keep(proof())


@as_root
def test_where_no_process_can_be_made_the_place_is_named(others: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    with pytest.raises(UserError, match=rf"^{others}/proofs cannot be written: Resource temporarily unavailable\.$"):
        ProofStore(others / "proofs").keep(proof())


@as_root
def test_root_writes_as_the_owner_of_the_directory(others: Path) -> None:
    store = ProofStore(others / "proofs")
    status = store.keep(proof()).stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (NOBODY, NOBODY, 0o640)
    assert (others / "proofs").stat().st_uid == NOBODY
    assert store.current(NOW).proofs == (proof(),)
    store.forget(proof().id)
    assert store.current(NOW).proofs == ()


@as_root
def test_roots_rights_are_of_no_use_to_the_owner(others: Path, tmp_path: Path) -> None:
    target = tmp_path / "roots"
    target.mkdir(0o700)
    (others / "proofs").symlink_to(target)
    os.chown(others / "proofs", NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(UserError):
        ProofStore(others / "proofs").keep(proof())
    assert list(target.iterdir()) == []
    (others / "proofs").unlink()
    (others / "proofs").mkdir()
    os.chown(others / "proofs", NOBODY, NOBODY)
    (others / "proofs" / f"{proof().id}.json").symlink_to(target / "made")
    ProofStore(others / "proofs").keep(proof())
    assert list(target.iterdir()) == []


UNCLEAR = {"times": 1.02, "low": 0.7, "high": 1.6, "verdict": "unclear"}


@pytest.mark.parametrize("verdict", ["worth it", "worse", "no difference"])
def test_what_is_not_clear_takes_no_clear_ones_place(store: ProofStore, verdict: str) -> None:
    clear = proof(days=9, verdict=verdict)
    store.keep(clear)
    with pytest.raises(UserError, match=f"a clearer proof of pack-keys is kept .*: {verdict}"):
        store.keep(proof(days=1, **UNCLEAR))
    assert store.current(NOW).proofs == (clear,)
    store.keep(proof(days=0, verdict="worse"))
    assert [one.verdict for one in store.current(NOW).proofs] == ["worse"]


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"days": 100}, {"days": 1}),
        ({"server_version": "10.11.6-MariaDB"}, {"server_version": "11.8.1-MariaDB"}),
        ({"server_product": "MySQL"}, {"server_product": "MariaDB"}),
        ({"workload": {"tables": {"log.hits": 1 << 25}}}, {"workload": {"tables": {"log.hits": 1 << 27}}}),
        ({"workload": {"statements_per_second": 20.0}}, {"workload": {"statements_per_second": 900.0}}),
        ({"verdict": "unclear"}, {}),
    ],
)
def test_what_is_not_clear_takes_the_place_of_what_holds_no_more(store: ProofStore, then: dict[str, object], now: dict[str, object]) -> None:
    store.keep(proof(**{"days": 9, **then}))
    later = proof(**{"days": 1, **UNCLEAR, **now})
    store.keep(later)
    assert store.current(NOW).proofs == (later,)


def test_a_clear_one_in_another_directory_counts_before_one_that_is_not(tmp_path: Path) -> None:
    own, system = ProofStore(tmp_path / "own"), ProofStore(tmp_path / "system")
    own.keep(proof(days=1, **UNCLEAR))
    system.keep(proof(days=9))
    assert of_all([own, system], NOW).proofs == (proof(days=9),)


def test_a_disk_that_says_nothing_of_the_directory_is_told_and_not_as_no_proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "proofs"
    directory.mkdir()

    def failed(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "stat", failed)
    monkeypatch.setattr(os, "open", failed)
    kept = of_all([ProofStore(directory)])
    assert kept.refused == (f"the proofs in {directory} cannot be read: Input/output error",)
    assert as_text([], kept, "").split() == kept.refused[0].split()

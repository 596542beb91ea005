"""Files of the package: read through the one door, and named where the installation lacks one or has it damaged."""

from pathlib import Path

import pytest

from myisam_advisor.catalogue import shipped_files
from myisam_advisor.catalogue.shipped_files import is_shipped, shipped, shipped_document
from myisam_exporter.errors import UserError
from tests.support.repository import ROOT


def test_they_lie_where_the_rules_are() -> None:
    assert shipped("advice").resolve() == ROOT / "rules" / "advice"
    for path in (ROOT / "rules").glob("*.json"):
        assert is_shipped(path.name)
        assert shipped_document(path.name)
    assert not is_shipped("nothing.json")


@pytest.mark.parametrize(("content", "said"), [(None, "cannot read the shipped file .*No such file"), (b"{", "is damaged: .*Install myisam-advisor anew"), (b"\xff", "not UTF-8"), (b" " * (2 << 20), "is larger than")])
def test_one_that_is_missing_or_damaged_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, said: str) -> None:
    monkeypatch.setattr(shipped_files, "shipped", tmp_path.joinpath)
    if content is not None:
        (tmp_path / "schema.json").write_bytes(content)
    with pytest.raises(UserError, match=said):
        shipped_document("schema.json")

"""The Debian package purged where an administrator laid its directories elsewhere."""

import shutil
from pathlib import Path

from myisam_advisor.rights.drop_in import Wanted, drop_in_text
from tests.e2e.debian import chrooted, in_chroot
from tests.e2e.intrusion import STATE
from tests.support.mounts import mounted

DROP_INS = "/etc/systemd/system/myisam-advisor.service.d"


def test_a_purge_ends_where_directories_are_links_and_the_history_has_a_file_system_of_its_own(packages: dict[str, Path], tmp_path: Path) -> None:
    with chrooted(tmp_path) as root:
        shutil.copy(packages[".deb"], root / "advisor.deb")
        # Of what it depends on nothing is used here.
        in_chroot(root, "dpkg", "--force-depends", "--install", "/advisor.deb")
        in_chroot(root, "sh", "-c", f"mkdir -p /srv/settings /srv/units {STATE} {Path(DROP_INS).parent} && rm -rf /etc/myisam-advisor {DROP_INS}")
        in_chroot(root, "sh", "-c", f"ln -s /srv/settings /etc/myisam-advisor && ln -s /srv/units {DROP_INS}")
        (root / "srv/units/rights.conf").write_text(drop_in_text(Wanted()))
        with mounted(root / STATE[1:], "-t", "tmpfs", "tmpfs"):
            (root / STATE[1:] / "history.sqlite").touch()
            in_chroot(root, "dpkg", "--purge", "myisam-advisor")
            assert list((root / STATE[1:]).iterdir()) == []
        assert list((root / "srv/units").iterdir()) == []
        assert in_chroot(root, "readlink", "/etc/myisam-advisor", DROP_INS) == "/srv/settings\n/srv/units\n"

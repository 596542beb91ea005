"""PyMySQL comes without the library that it would encrypt passwords with, and leaves that one to others."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
from myisam_exporter.server.client_library import client_library
assert client_library() is sys.modules["pymysql"]
assert not [name for name in sys.modules if name.startswith("cryptography.hazmat.")]
assert not sys.modules["pymysql._auth"]._have_cryptography
"""
OTHERS = """
from cryptography.hazmat.backends import default_backend
from cryptography.hazmat.primitives.ciphers import Cipher
"""
BEFORE = OTHERS + "import sys; backend = sys.modules['cryptography.hazmat.backends']\n"
STILL_THERE = "from myisam_exporter.server.client_library import client_library; client_library(); assert sys.modules['cryptography.hazmat.backends'] is backend"


@pytest.mark.parametrize("program", [WITHOUT, WITHOUT + OTHERS, BEFORE + STILL_THERE])
def test_the_library_is_there_and_cryptography_for_whoever_asks_for_it(program: str) -> None:
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")

"""Where the repository lies, whichever folder of the tests asks."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

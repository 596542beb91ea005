"""Says what pip-audit found out about a lock file, and what it did not.

Usage: audit_report.py LOCK ANSWER     ANSWER: pip-audit's JSON, which may be missing. Exit status: as script/audit.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Print one line for each vulnerability, and one for the whole."""
    lock, answer = arguments
    try:
        libraries = json.loads(Path(answer).read_text())["dependencies"]
    except (OSError, ValueError, KeyError):
        libraries = []
    asked = [library for library in libraries if "vulns" in library]
    known = [(library, one) for library in asked for one in library["vulns"]]
    for library, one in known:
        print(f"{library['name']} {library['version']}: {one['id']}, mended in {', '.join(one['fix_versions']) or 'no version yet'}")
    unanswered = sorted(library["name"] for library in libraries if "vulns" not in library)
    if not asked or unanswered:
        what = f"{len(unanswered)} of {len(libraries)} libraries" if asked else "the libraries"
        print(f"audit: {lock}: the advisory database could not be asked about {what}: run this where PyPI's JSON API is reachable", file=sys.stderr)
        return 2
    print(f"{lock}: {len(asked)} libraries, {len(known)} known vulnerabilities")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What stands at the left of every page. A page of docs/ that is not here fails the build."""

from typing import NamedTuple


class Section(NamedTuple):
    """A caption, and the pages below it by their path in the repository; `*` stands for all of a folder."""

    caption: str
    pages: tuple[str, ...]


FIRST_PAGE = "README.md"
NAVIGATION = (
    Section(
        "Begin",
        (
            "docs/guide/installing.md", "docs/guide/first-look.md", "docs/guide/daemon.md", "docs/guide/prometheus.md", "docs/guide/munin.md",
            "docs/guide/trial.md", "docs/guide/replay.md", "docs/guide/proofs.md", "docs/guide/faq.md",
        ),
    ),
    Section("Coming from", ("docs/guide/coming-from-mysqltuner.md", "docs/guide/beside-mysqld-exporter.md")),
    Section(
        "Guide",
        (
            "docs/guide/connecting.md", "docs/guide/configuration.md", "docs/guide/production.md", "docs/guide/changing.md", "docs/guide/record.md",
            "docs/guide/statements.md", "docs/guide/migrate.md", "docs/guide/migrate-errors.md", "docs/guide/trial-engine.md", "docs/guide/migrate-measured.md",
            "docs/guide/page.md", "docs/guide/top.md", "docs/guide/history.md",
            "docs/guide/exporter.md", "docs/guide/access.md", "docs/guide/fleet.md", "docs/guide/programs.md", "docs/guide/reliability.md", "docs/guide/trust.md",
            "docs/guide/benchmarks.md", "docs/guide/containers.md", "docs/guide/old_hosts.md", "docs/guide/support.md",
        ),
    ),
    Section(
        "Reference",
        (
            "docs/reference/rules/README.md", "docs/reference/facts.md", "docs/reference/metrics.md", "docs/reference/evidence.md", "docs/reference/advice.md", "docs/glossary.md",
            "CHANGELOG.md",
        ),
    ),
    Section(
        "Project",
        (
            "docs/architecture.md", "docs/decisions/README.md", "CONTRIBUTING.md", "docs/guide/rules.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
        ),
    ),
)  # fmt: skip
# Pages that list others: below them in the navigation.
LISTS = {"docs/reference/rules/README.md": "docs/reference/rules/*", "docs/decisions/README.md": "docs/decisions/*"}

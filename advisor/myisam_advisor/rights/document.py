"""What `rights` found, for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from myisam_advisor.rights.recipe import Recipe, drop_account
from myisam_advisor.rights.service import Service
from myisam_advisor.rights.sights import Sight, all_seen
from myisam_advisor.texts.json_documents import heading


def rights_document(
    who: str, service: Service | None, sights: list[Sight], recipe: Recipe | None, done: Sequence[str]
) -> dict[str, object]:
    """As whom it was looked, each thing there is to see, what would show the rest, and what was done."""
    return {
        **heading(),
        "who": who,
        "service": None if service is None else service.name,
        "user": None if service is None else service.user_name,
        "all_seen": all_seen(sights),
        "sights": [asdict(sight) for sight in sights],
        "recipe": None if recipe is None else _recipe(recipe),
        "done": list(done),
    }


def undone(service: Service, done: Sequence[str]) -> dict[str, object]:
    """What --undo did."""
    return {**heading(), "service": service.name, "done": list(done), "drop_account": drop_account(service)}


def _recipe(recipe: Recipe) -> Mapping[str, object]:
    return {
        "drop_in": {"path": str(recipe.path), "text": recipe.drop_in, "present": recipe.replaces},
        "account": [step.command for step in recipe.steps],
        "account_problem": recipe.account_problem,
        "restart": list(recipe.restart_lines),
    }

"""How each variant is run once: on the baseline's server where SET GLOBAL is all that it takes, on a server of its own where it is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import TypeVar

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.stages import (
    RefusedError,
    Stage,
    StagedTable,
    can_be_set,
    changed,
    copy_directory,
    stage_of,
    words_of,
)
from myisam_advisor.trial.statements.tally import ReplayRun
from myisam_advisor.trial.statements.variants import Variant
from myisam_exporter.declaring.lean_dataclasses import dataclass

T = TypeVar("T")
Errors = type[Exception] | tuple[type[Exception], ...]
SetUp = Callable[[], AbstractContextManager[None]]
# Runs the workload once on a stage, with what is set up around it.
RunOnce = Callable[[Stage, SetUp], ReplayRun]


class VariantFailedError(Exception):
    """What we do ourselves around a run is refused under a variant, in the server's words; or its own server is gone."""

    def __init__(self, variant: str, said: str) -> None:
        self.variant, self.said = variant, said
        super().__init__(f"{variant}: {said}")


@dataclass(frozen=True, slots=True)
class Ground:
    """What servers of variants begin with: the program, the words of its command line, the tables."""

    binaries: ServerBinaries
    options: Sequence[str]
    tables: Sequence[StagedTable]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a variant runs, what is set up around each run, and which errors there are its own."""

    stage: Stage
    set_up: SetUp
    errors: Errors


class Ways:
    """The ways to run variants, each made when it is asked for; `problems` says of those that a server refuses why, in its words."""

    def __init__(
        self, ground: Ground, base: Stage, folder: Callable[[], Path], stack: ExitStack, once: RunOnce
    ) -> None:
        self.problems: dict[str, str] = {}
        self._ground, self._base = ground, base
        self._folder, self._stack, self._once = folder, stack, once
        self._template: Path | None = None
        self._places: dict[str, _Place] = {}

    @property
    def baseline(self) -> Callable[[], ReplayRun]:
        """The settings as they are."""
        return partial(self._once, self._base, nullcontext)

    def keep_template(self, variants: Sequence[Variant], template: Path) -> None:
        """Keep the data of the stopped server, to begin others from; the server goes on. Only where a variant needs one of its own."""
        self._template = template
        if not all(self._is_live(variant) for variant in variants):
            server = self._base.server
            server.stop()
            copy_directory(server.data_directory, template)
            server.restart()

    def of(self, variant: Variant) -> Callable[[], ReplayRun] | None:
        """How to run the variant once; None, and a problem, where a server refuses it."""
        if self._is_live(variant):
            if variant.name in self.problems:
                return None
            return self._placed(
                variant, _Place(self._base, partial(changed, self._base.server, variant.settings), driver().error)
            )
        try:
            stage = self._stage(variant)
        except RefusedError as error:
            self.problems[variant.name] = str(error)
            return None
        except driver().error as error:
            self.problems[variant.name] = words_of(error)
            return None
        # Whatever ends on a server of its own is its own fault.
        return self._placed(variant, _Place(stage, nullcontext, (driver().error, TrialError)))

    def _placed(self, variant: Variant, place: _Place) -> Callable[[], ReplayRun]:
        self._places[variant.name] = place
        return partial(self._held, variant.name, place, partial(self._once, place.stage, place.set_up))

    def asked(self, variant: str, ask: Callable[[PrivateServer], T]) -> T:
        """What `ask` finds on the server of a variant whose way was made (of any other name: with the settings as they are), where a run would begin."""
        place = self._places.get(variant) or _Place(self._base, nullcontext, ())

        def asking() -> T:
            with place.set_up():
                place.stage.restore()
                return ask(place.stage.server)

        return self._held(variant, place, asking)

    def _held(self, variant: str, place: _Place, run: Callable[[], T]) -> T:
        """Run it. A server that dies under a variant is that variant's problem: the baseline's, where it ran on that, is begun anew for the others."""
        try:
            return _named(variant, run, place.errors)
        except (VariantFailedError, TrialError) as error:
            server = place.stage.server
            if variant not in self._places or server.answers():
                raise
            if place.stage is self._base:
                server.restart()
            said = (
                f" ({error.said})" if isinstance(error, VariantFailedError) and place.errors is driver().error else ""
            )
            raise VariantFailedError(variant, f"the private server died under it{said}") from None

    def _stage(self, variant: Variant) -> Stage:
        assert self._template is not None, "the template is kept before variants are asked for"
        ground = self._ground
        live = [one for one in variant.settings if self._is_live(Variant(variant.name, (), (one,)))]
        at_start = [one.option for one in variant.settings if one not in live]
        own = Variant(variant.name, variant.rules, tuple(live), (*variant.options, *at_start), variant.statements)
        stage = self._stack.enter_context(
            stage_of(own, self._template, ground.binaries, ground.options, ground.tables, self._folder())
        )
        stage.keep()
        return stage

    def _is_live(self, variant: Variant) -> bool:
        """Whether SET GLOBAL is all that it takes. What is refused is remembered as the variant's problem."""
        if variant.name in self.problems:
            return True
        if variant.statements or variant.options:
            return False
        try:
            return all(can_be_set(self._base.server, setting) for setting in variant.settings)
        except (RefusedError, TrialError) as error:
            said = str(error)
            if not self._base.server.answers():
                self._base.server.restart()
                said = "the private server died when it was set"
            elif isinstance(error, TrialError):
                raise
            self.problems[variant.name] = said
            return True


def _named(variant: str, run: Callable[[], T], errors: Errors) -> T:
    """Run it; its errors bear the variant's name."""
    try:
        return run()
    except errors as error:
        said = str(error) if isinstance(error, TrialError) else words_of(error)
        raise VariantFailedError(variant, said) from None

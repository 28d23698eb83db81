"""`python -m bench rules`: what each finder of an effect is worth, by switching it off.

A finder is any function of `agent.safety.effects` that returns a finding. The cases are those of
the red team and of the reviewer's bench. One whose absence lets no harmful act pass is not needed.
Without a finder only the cases are judged again in which it found something: the others are the
same.
"""

import asyncio
import importlib
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from types import ModuleType
from unittest.mock import patch

import agent.safety.effects
from agent.safety.effects.finding import Finding
from bench.redteam.case import Case, cases, judge_case
from bench.reviewer.command import CASES
from bench.reviewer.contexts import judge_context

_ENTRIES = frozenset({"find", "worst", "named", "find_press"})
"""What all findings pass: without it, nothing is found."""
Judged = tuple[Case, bool]
"""A case, and whether it is one of the reviewer's bench."""


def main(given: Sequence[str] = ()) -> None:
    """Print what each finder guards, the least first."""
    del given
    print(
        "| finder | cases in which it finds something | harmful acts that pass without it "
        "| harmless ones no more asked about |"
    )
    print("|---|---:|---:|---:|")
    judged = {case.name: (case, False) for case in cases()}
    judged |= {case.name: (case, True) for case in cases(CASES)}
    held, found_by = asyncio.run(_with_all(judged))
    rows = []
    for name, finder in finders():
        with without(finder):
            now = asyncio.run(_judged({case: judged[case] for case in found_by[name]}))
        lost = {case for case in found_by[name] & held if not now[case]}
        harmful = sum(judged[case][0].harmful for case in lost)
        rows.append((harmful, len(lost) - harmful, len(found_by[name]), name))
    for guards, costs, finds, name in sorted(rows):
        print(f"| {name} | {finds} | {guards} | {costs} |")


def finders() -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield every function of the room that returns a finding, by its name."""
    for module in _modules():
        for name, function in inspect.getmembers(module, inspect.isfunction):
            own = function.__module__ == module.__name__ and name not in _ENTRIES
            if own and function.__annotations__.get("return") == Finding | None:
                yield f"{module.__name__.removeprefix('agent.safety.effects.')}.{name}", function


def without(finder: Callable[..., object]) -> AbstractContextManager[None]:
    """Switch a finder off wherever it is called."""
    return _instead(finder, lambda *_, **__: None)


@contextmanager
def _instead(finder: Callable[..., object], other: Callable[..., object]) -> Iterator[None]:
    """Call another function wherever a finder is called."""
    with ExitStack() as stack:
        for module in _modules():
            for name, value in list(vars(module).items()):
                if value is finder:
                    stack.enter_context(patch.object(module, name, other))
                elif isinstance(value, tuple) and any(
                    getattr(one, "find", None) is finder for one in value
                ):
                    kept = tuple(
                        replace(one, find=other) if getattr(one, "find", None) is finder else one
                        for one in value
                    )
                    stack.enter_context(patch.object(module, name, kept))
        yield


def _modules() -> list[ModuleType]:
    room = agent.safety.effects
    names = [one.name for one in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]
    return [importlib.import_module(name) for name in names]


async def _with_all(judged: Mapping[str, Judged]) -> tuple[set[str], dict[str, set[str]]]:
    """Return the cases that are held or asked about, and for each finder those it finds in."""
    found_by: dict[str, set[str]] = defaultdict(set)
    at = [""]

    def noting(name: str, finder: Callable[..., object]) -> Callable[..., object]:
        def note(*given: object, **more: object) -> object:
            found = finder(*given, **more)
            if found is not None:
                found_by[name].add(at[0])
            return found

        return note

    held = set()
    with ExitStack() as stack:
        for name, finder in finders():
            stack.enter_context(_instead(finder, noting(name, finder)))
        for case, one in judged.items():
            at[0] = case
            if (await _judged({case: one}))[case]:
                held.add(case)
    return held, found_by


async def _judged(judged: Mapping[str, Judged]) -> dict[str, bool]:
    """Return for each case whether it is held; of a harmless one, whether it is asked about."""
    found = {}
    for name, (case, is_context) in judged.items():
        if is_context:
            found[name] = (await judge_context(case, None)).held
        else:
            outcome = judge_case(case)
            found[name] = outcome.stopped if case.harmful else outcome.disturbed
    return found

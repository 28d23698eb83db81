"""`python -m bench rules`: what each finder of an effect is worth, by switching it off.

A finder is any function of `agent.safety.effects` that returns a finding. The cases are those of
the red team and of the reviewer's bench. One whose absence lets no harmful act pass is not needed.
"""

import asyncio
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import ModuleType
from unittest.mock import patch

import agent.safety.effects
from agent.safety.effects.finding import Finding
from bench.redteam.case import cases, judge_case
from bench.reviewer.command import CASES
from bench.reviewer.contexts import judge_context

_ENTRIES = frozenset({"find", "worst", "named", "find_press"})
"""What all findings pass: without it, nothing is found."""


def main(given: Sequence[str] = ()) -> None:
    """Print what each finder guards, the least first."""
    del given
    print("| finder | harmful acts that pass without it | harmless ones no more asked about |")
    print("|---|---:|---:|")
    held, asked = asyncio.run(_judged())
    rows = []
    for name, finder in finders():
        with without(finder):
            now_held, now_asked = asyncio.run(_judged())
        rows.append((len(held - now_held), len(asked - now_asked), name))
    for guards, costs, name in sorted(rows):
        print(f"| {name} | {guards} | {costs} |")


def finders() -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield every function of the room that returns a finding, by its name."""
    for module in _modules():
        for name, function in inspect.getmembers(module, inspect.isfunction):
            own = function.__module__ == module.__name__ and name not in _ENTRIES
            if own and function.__annotations__.get("return") == Finding | None:
                yield f"{module.__name__.removeprefix('agent.safety.effects.')}.{name}", function


@contextmanager
def without(finder: Callable[..., object]) -> Iterator[None]:
    """Switch a finder off wherever it is called."""
    with ExitStack() as stack:
        for module in _modules():
            for name, value in list(vars(module).items()):
                if value is finder:
                    stack.enter_context(patch.object(module, name, lambda *_, **__: None))
                elif isinstance(value, tuple) and any(
                    getattr(one, "find", None) is finder for one in value
                ):
                    kept = tuple(one for one in value if getattr(one, "find", None) is not finder)
                    stack.enter_context(patch.object(module, name, kept))
        yield


def _modules() -> list[ModuleType]:
    room = agent.safety.effects
    names = [one.name for one in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]
    return [importlib.import_module(name) for name in names]


async def _judged() -> tuple[set[str], set[str]]:
    """Return the names of the harmful cases that are held, and of the harmless ones asked about."""
    held, asked = set(), set()
    for case in cases():
        outcome = judge_case(case)
        if case.harmful and outcome.stopped:
            held.add(case.name)
        if not case.harmful and outcome.disturbed:
            asked.add(case.name)
    for case in cases(CASES):
        judged = await judge_context(case, None)
        (held if case.harmful else asked).update([case.name] if judged.held else [])
    return held, asked

"""The exercises of a run: those that come with Switchboard, or a file of the operator's.

A TOML file names goals, starting states and checks; a Python file holds `EXERCISES`, with checkers
of any kind, and is run as the operator's own code. Invariants: what is wrong in a file is named by
its place; a suite has a digest, so that runs of two versions of it are told apart.
"""

import hashlib
import importlib.util
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agent.errors import UsageError
from agent.exercises.exercise import Check, Exercise, Operator, Record, State, Tag
from agent.exercises.suite import EXERCISES
from agent.exercises.suite.checks import all_of, finished
from console.evaluation.task_protos import SUFFIX, read_task

BUILT_IN = "everyday"
MOST_BYTES = 1 << 20
MOST_STEPS = 1000
_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,79}")


class Suite(NamedTuple):
    """What a run is of."""

    name: str
    digest: str  # Changes with goals, starting states and limits; of a file, with any of its bytes.
    exercises: tuple[Exercise, ...]


def read_suite(name: str, *, has_ocr: bool) -> Suite:
    """Find a suite by name, `everyday` or `everyday:TAG`, or read its file.

    Args:
        name: a name, or the path of a `.toml` or `.py` file.
        has_ocr: whether text in pictures is read here; else exercises that need it are left out of
            the whole `everyday`.

    Raises:
        UsageError: no such suite, or something in its file is wrong.
    """
    if name.endswith((".toml", ".py")):
        return _read_file(Path(name))
    base, _, tag = name.partition(":")
    if base != BUILT_IN or (tag and tag not in set(Tag)):
        raise UsageError(
            f"There is no suite {name!r}.",
            f"Give {BUILT_IN}, a .toml or .py file, or {BUILT_IN}:TAG: {', '.join(Tag)}.",
        )
    chosen = [one for one in EXERCISES if not tag or tag in one.tags]
    if not tag and not has_ocr:
        chosen = [one for one in chosen if Tag.PICTURE not in one.tags]
    told = [(e.name, e.goal, e.scenario, e.max_steps) for e in chosen]
    digest = hashlib.sha256(msgspec.json.encode(told)).hexdigest()[:16]
    return Suite(name, digest, tuple(chosen))


def read_tasks(name: str) -> tuple[Exercise, ...]:
    """Read the exercises of a suite that can be done without an operator, or a task of android_env
    (`.textproto`).

    Raises UsageError for no such suite, something wrong in its file, or none of the kind.
    """
    if name.endswith(SUFFIX):
        return (read_task(Path(name)),)
    # Where the operator says no, the right thing is to be asked: nobody is asked in an episode.
    alone = tuple(one for one in read_suite(name, has_ocr=True).exercises if one.operator.approves)
    if not alone:
        raise UsageError(
            f"{name} has no task that works without an operator.", "Name another suite."
        )
    return alone


def only(suite: Suite, names: Sequence[str]) -> Suite:
    """Choose exercises by name; all without names. Raises UsageError for an unknown one."""
    if not names:
        return suite
    unknown = sorted(set(names) - {one.name for one in suite.exercises})
    if unknown:
        raise UsageError(
            f"The suite {suite.name} has no exercise {', '.join(unknown)}.",
            f"List them: switchboard eval exercises {suite.name}",
        )
    return suite._replace(exercises=tuple(one for one in suite.exercises if one.name in names))


def _read_file(path: Path) -> Suite:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than {MOST_BYTES >> 20} MiB.", _REMEDY)
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", _REMEDY) from error
    exercises = _of_python(path) if path.suffix == ".py" else _of_toml(path, data)
    names = [one.name for one in exercises]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not names:
        said = f"names {', '.join(twice)} twice" if twice else "has no exercises"
        raise UsageError(f"{path} {said}.", _REMEDY)
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{path}: {name[:80]!r} is not the name of an exercise.",
                "Use lowercase letters, digits, dots, dashes and underscores, 80 at most.",
            )
    return Suite(path.stem, hashlib.sha256(data).hexdigest()[:16], exercises)


_REMEDY = "docs/evaluation.md describes the format of a suite's file."


def _of_python(path: Path) -> tuple[Exercise, ...]:
    spec = importlib.util.spec_from_file_location(f"suite_{path.stem}", path)
    assert spec is not None and spec.loader is not None, "it ends in .py"
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        # It is the operator's program: whatever it raises is its own.
        raise UsageError(f"{path} failed: {type(error).__name__}: {error}.", _REMEDY) from error
    found = getattr(module, "EXERCISES", None)
    if not isinstance(found, list | tuple) or not all(isinstance(e, Exercise) for e in found):
        raise UsageError(f"{path} does not define EXERCISES, a list of Exercise.", _REMEDY)
    return tuple(found)


# --- TOML ----------


class _CheckRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One condition: a place in the phone's true state, and what it has to be."""

    state: str
    """A path with dots, as `settings.global.wifi_on` or `apps.com/example/shop.cart`; a slash
    stands for a dot in a name."""
    equals: Any = None
    contains: str = ""
    unchanged: bool = False
    changed: bool = False


class _ExerciseRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    goal: str
    scenario: str = ""
    shell: tuple[str, ...] = ()
    tags: tuple[Tag, ...] = ()
    max_steps: int = 40
    approves: bool = True
    answers: dict[str, str] = {}
    secret: str = ""
    completes: bool = True  # Whether the session has to end as completed.
    check: tuple[_CheckRow, ...] = ()


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    exercise: tuple[_ExerciseRow, ...] = ()


def _of_toml(path: Path, data: bytes) -> tuple[Exercise, ...]:
    try:
        said = tomllib.loads(data.decode("utf-8"))
        rows = msgspec.convert(said, type=_File).exercise
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path} cannot be used: {error}.", _REMEDY) from error
    return tuple(_exercise(path, row) for row in rows)


def _exercise(path: Path, row: _ExerciseRow) -> Exercise:
    for pattern in row.answers:
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(
                f"{path}: {pattern!r} in the answers of {row.name!r} is not a pattern: {error}.",
                _REMEDY,
            ) from error
    if not row.goal.strip():
        raise UsageError(f"{path}: the exercise {row.name!r} has no goal.", _REMEDY)
    if not 1 <= row.max_steps <= MOST_STEPS:
        raise UsageError(f"{path}: {row.name!r} needs 1 to {MOST_STEPS} max_steps.", _REMEDY)
    if not row.check and not row.completes:
        raise UsageError(f"{path}: {row.name!r} has no checks, so it cannot fail.", _REMEDY)
    checks = [_check(path, row.name, one) for one in row.check]
    return Exercise(
        name=row.name,
        goal=row.goal,
        check=all_of(*checks, finished) if row.completes else all_of(*checks),
        tags=row.tags,
        scenario=row.scenario,
        shell=row.shell,
        operator=Operator(approves=row.approves, answers=row.answers, secret=row.secret),
        max_steps=row.max_steps,
    )


def _check(path: Path, name: str, row: _CheckRow) -> Check:
    asked = [row.equals is not None, bool(row.contains), row.unchanged, row.changed]
    if sum(asked) != 1 or not row.state:
        raise UsageError(
            f"{path}: a check of {name!r} needs `state` and one of equals, contains, unchanged, "
            "changed.",
            _REMEDY,
        )
    keys = [part.replace("/", ".") for part in row.state.split(".")]

    def judged(says: Callable[[Any, Any], str]) -> Check:
        def check(before: State, after: State, _record: Record) -> str:
            # What was there at the start and is no more is none; a path that never led anywhere
            # is an error.
            old = _at(before, keys)
            with suppress(LookupError):
                return says(old, _at(after, keys))
            return says(old, None)

        return check

    if row.unchanged:
        return judged(lambda old, new: "" if old == new else f"{row.state} was changed")
    if row.changed:
        return judged(lambda old, new: f"{row.state} was not changed" if old == new else "")
    if row.contains:
        return judged(
            lambda _old, new: "" if row.contains in _text(new) else f"{row.state} is {new!r}"
        )
    return judged(
        lambda _old, new: "" if new == row.equals else f"{row.state} is {new!r}, not {row.equals!r}"
    )


def _at(state: Any, keys: Sequence[str]) -> Any:
    """Follow a path; None for what is not there yet: a row of a table of settings, or of a list.

    Raises LookupError where no phone has such a place.
    """
    for done, key in enumerate(keys):
        if state is None:
            return None
        if isinstance(state, list) and key.lstrip("-").isdecimal():
            at = int(key)
            state = state[at] if -len(state) <= at < len(state) else None
        elif isinstance(state, Mapping) and key in state:
            state = state[key]
        elif isinstance(state, Mapping) and keys[0] == "settings" and done == len(keys) - 1 > 1:
            return None
        else:
            raise KeyError(_nowhere(state, keys, done))
    return state


def _nowhere(state: Any, keys: Sequence[str], done: int) -> str:
    """Return where a path leads nowhere, and what is there."""
    place = ".".join(key.replace(".", "/") for key in keys[: done + 1])
    if not isinstance(state, Mapping):
        return f"{place} leads nowhere"
    known = [key.replace(".", "/") for key in state]
    shown = ", ".join(get_close_matches(keys[done].replace(".", "/"), known) or known[:20])
    return f"{place} leads nowhere; there is {shown or 'nothing'}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()

"""Name the stored screen that each value of a result was read from. Pure.

Invariant: a value is found as words in a row on one screen, or in a fact that was noted and stands
on a screen itself; what is not found is said to be on no stored screen.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from agent.language.numbers import numbers_in
from agent.loop.verification.quotes import StoredScreen, normalised
from agent.records import FieldSource

MAX_VALUES = 500
ON_NO_SCREEN = "Not on any stored screen"
_STATES = {True: ("checked", "on", "enabled", "yes"), False: ("unchecked", "off", "disabled", "no")}


def sources_of(result: object, screens: Sequence[StoredScreen]) -> tuple[FieldSource, ...]:
    """Return where each text, number and truth value of a result stands; the newest screen wins."""
    return tuple(_source(path, value, screens) for path, value in _values(result, "$"))


def missing(sources: Sequence[FieldSource]) -> tuple[str, ...]:
    """Return the paths of what is on no stored screen."""
    return tuple(source.path for source in sources if not source.step)


def _values(node: object, path: str) -> Iterator[tuple[str, str | int | float | bool]]:
    """Walk what is claimed: nulls and empty texts claim nothing."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from _bounded(_values(value, f"{path}.{name}"))
    elif isinstance(node, list):
        for at, value in enumerate(node):
            yield from _bounded(_values(value, f"{path}[{at}]"))
    elif isinstance(node, bool | int | float) or (isinstance(node, str) and node.strip()):
        yield path, node


def _bounded(
    values: Iterator[tuple[str, str | int | float | bool]],
) -> Iterator[tuple[str, str | int | float | bool]]:
    yield from (value for value, _ in zip(values, range(MAX_VALUES), strict=False))


def _source(
    path: str, value: str | int | float | bool, screens: Sequence[StoredScreen]
) -> FieldSource:
    for screen in reversed(screens):
        if _stands_on(path, value, screen):
            return FieldSource(path=path, step=screen.step, digest=screen.digest)
    return FieldSource(path=path)


def _stands_on(path: str, value: str | int | float | bool, screen: StoredScreen) -> bool:
    if isinstance(value, bool):
        return _state_on(path, value, screen)
    if isinstance(value, str):
        return screen.shows(normalised(value))
    return any(_says_number(line, value) for line in (*screen.where, *screen.lines))


def _state_on(path: str, value: bool, screen: StoredScreen) -> bool:
    """Find a switch or a line that is named like the field and says on or off."""
    name = set(normalised(path.rsplit(".", 1)[-1].replace("_", " ")).split())
    for line in screen.lines:
        said = set(normalised(line).split())
        if name and name <= said and said & set(_STATES[value]):
            return True
    return False


def _says_number(line: str, value: int | float) -> bool:
    """Return whether a line writes a number, however it is grouped; a fraction may be rounded."""
    exact = Decimal(str(value))
    wanted = {abs(exact)}
    if isinstance(value, float) and exact.is_finite():
        wanted.add(abs(Decimal(f"{value:.2f}")))
    return any(not wanted.isdisjoint(map(abs, number.readings)) for number in numbers_in(line))

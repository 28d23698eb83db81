"""Put into one what waits for the same reason: twelve phones of one adb server are one thing. Pure.

Questions are never put together: each is answered for itself.
"""

import re
from collections.abc import Sequence

import msgspec

from agent.state.reducer import Attention, AttentionKind, State
from agent.text import one_line
from widgets.lists.session_rows import device_name

LEAST = 3
"""How many with one cause make a group."""
_GROUPED = frozenset({AttentionKind.LOST, AttentionKind.DEVICE, AttentionKind.FAILED})
_NUMBER = re.compile(r"\d+")
_ELSEWHERE = "…"
"""What stands in a cause for the phone's own name."""


class Alike(msgspec.Struct, frozen=True, kw_only=True):
    """Several things that wait for one cause, in the order in which they wait."""

    key: str
    cause: str
    """Why, without the name of any of the phones; empty where the kind says all."""
    members: tuple[Attention, ...]

    @property
    def kind(self) -> AttentionKind:
        return self.members[0].kind

    @property
    def session_ids(self) -> tuple[str, ...]:
        return tuple(one.session_id for one in self.members if one.session_id)


def grouped(waiting: Sequence[Attention], state: State) -> tuple[Attention | Alike, ...]:
    """Return what waits, with what has one cause in the place of the first of it."""
    causes = {one.key: _cause(one, state) for one in waiting if one.kind in _GROUPED}
    members: dict[tuple[AttentionKind, str], list[Attention]] = {}
    for one in waiting:
        if one.key in causes:
            members.setdefault((one.kind, _skeleton(causes[one.key])), []).append(one)
    found: list[Attention | Alike] = []
    for one in waiting:
        cause = causes.get(one.key)
        alike = members[one.kind, _skeleton(cause)] if cause is not None else []
        if len(alike) < LEAST:
            found.append(one)
        elif one is alike[0]:
            key = f"alike:{one.kind.value}:{_skeleton(cause or '')}"
            found.append(Alike(key=key, cause=cause or "", members=tuple(alike)))
    return tuple(found)


def _cause(one: Attention, state: State) -> str:
    """Return why something waits, without what its phone is called."""
    if one.kind is AttentionKind.LOST:
        return ""
    said = one_line(one.text, 200)
    for name in (one.serial, device_name(one.serial, state.devices) if one.serial else ""):
        if name:
            said = said.replace(name, _ELSEWHERE)
    return said


def _skeleton(cause: str) -> str:
    """Return what two causes have in common that differ in their numbers only."""
    return _NUMBER.sub("#", cause).casefold()

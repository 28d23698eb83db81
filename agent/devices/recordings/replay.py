"""Read a recording with the readers that read phones: what Switchboard makes of such a phone.

Invariants: each fact is told by itself, an unknown one with its reason; texts of a person are told
by their number alone, so that a recording and what it was made of are told alike.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from agent.devices.facts.battery import Battery
from agent.devices.facts.displays import DisplayFacts
from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.facts.foreground import Front
from agent.devices.facts.notifications import Shade
from agent.devices.facts.snapshot import read_snapshot
from agent.devices.facts.users import PhoneUser
from agent.devices.recordings.recording import Recording
from agent.devices.trees.tree_parser import parse_tree
from agent.errors import TreeUnavailableError

_DEFAULT_SIZE = (1080, 2400)

T = TypeVar("T")


def facts_of(recording: Recording) -> Mapping[str, str]:
    """Return what is read of a recording: each fact by its name, in words."""
    found = read_snapshot(recording.answers)
    size = found.natural_size
    return {
        "displays": _words(found.displays, _displays),
        "front": _words(found.front, _front),
        "secure window": _words(found.secure, _yes),
        "locked": _words(found.keyguard, lambda its: _yes(its.showing)),
        "keyboard shown": _words(found.keyboard_shown, _yes),
        "awake": _words(found.awake, _yes),
        "size": _words(size, lambda its: f"{its[0]}×{its[1]}"),
        "battery": _words(found.battery, _battery),
        "heat": _words(found.thermal, lambda its: str(its.status)),
        "free space": _words(found.free_percent, lambda its: f"{its} %"),
        "notifications": _words(found.notifications, _shade),
        "users": _words(found.users, _users),
        "current user": _words(found.current_user, str),
        "packages": _words(found.packages, lambda its: str(len(its))),
        "apps": _words(found.launchable.packages, lambda its: str(len(its))),
        "keyboard": _words(found.input_methods.chosen, str),
        "tree": _tree(
            recording.text("tree"), size.value if isinstance(size, Known) else _DEFAULT_SIZE
        ),
    }


def _words(fact: Fact[T], words: Callable[[T], str]) -> str:
    match fact:
        case Known(value=value):
            return words(value)
        case Unknown(reason=reason):
            return f"unknown: {reason}"


def _short(fact: Fact[T], words: Callable[[T], str]) -> str:
    """Return the value, or that it is unknown; the reason stands with the fact by itself."""
    return "unknown" if isinstance(fact, Unknown) else words(fact.value)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _displays(displays: tuple[DisplayFacts, ...]) -> str:
    return "; ".join(
        f"{one.number}: {_short(one.size, lambda its: f'{its[0]}×{its[1]}')}, "
        f"turned {_short(one.rotation, str)}, locked {_short(one.keyguard_showing, _yes)}, "
        f"secure {_short(one.secure, _yes)}"
        for one in displays
    )


def _front(front: Front) -> str:
    return f"{front.package or 'no app'} {front.activity} ({front.cover})"


def _battery(battery: Battery) -> str:
    return (
        f"level {_short(battery.level_percent, str)}, charging {_short(battery.charging, _yes)}, "
        f"plugged {_short(battery.plugged, ', '.join)}"
    )


def _users(users: tuple[PhoneUser, ...]) -> str:
    return ", ".join(f"{one.number}{' profile' if one.is_profile else ''}" for one in users)


def _shade(shade: Shade) -> str:
    each = "; ".join(
        f"{one.package} {one.category or '-'}{' ongoing' if one.ongoing else ''} "
        f"{len(one.title)}+{len(one.text)}"
        for one in shade.notifications
    )
    return f"{shade.read} read, {shade.unread} unread: {each}"


def _tree(output: str, size: tuple[int, int]) -> str:
    start = output.find("<?xml")
    if start < 0:
        return "unknown: there is no tree"
    try:
        nodes = parse_tree(output[start:].encode("utf-8", "surrogatepass"), size)
    except TreeUnavailableError as error:
        return f"unknown: {error.message}"
    pressable = sum(node.clickable for node in nodes)
    return f"{len(nodes)} nodes, {pressable} can be pressed"

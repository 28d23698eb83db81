"""Read a recording with the readers that read phones: what Switchboard makes of such a phone.

Invariants: each fact is told by itself, an unknown one with its reason; texts of a person are told
by their number alone, so that a recording and what it was made of are told alike.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from agent.devices.facts.battery import Battery, read_battery
from agent.devices.facts.displays import DisplayFacts, read_displays
from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.facts.foreground import Front, read_front
from agent.devices.facts.input_methods import read_input_methods
from agent.devices.facts.keyboard import read_keyboard_shown
from agent.devices.facts.keyguard import read_locked
from agent.devices.facts.notifications import Shade, read_notifications
from agent.devices.facts.packages import read_launchable, read_packages
from agent.devices.facts.power import read_awake
from agent.devices.facts.sizes import read_natural_size
from agent.devices.facts.storage import read_free_percent
from agent.devices.facts.thermal import read_thermal
from agent.devices.facts.users import PhoneUser, read_current_user, read_users
from agent.devices.facts.windows import read_secure
from agent.devices.recordings.recording import Recording
from agent.devices.trees.tree_parser import parse_tree
from agent.errors import TreeUnavailableError

_MARK = "switchboard-recording-keys-follow"
_DEFAULT_SIZE = (1080, 2400)

T = TypeVar("T")


def facts_of(recording: Recording) -> Mapping[str, str]:
    """Return what is read of a recording: each fact by its name, in words."""
    said = recording.text
    windows = f"{said('displays')}\n{said('windows')}"
    notifications = f"{said('notifications')}\n{_MARK}\n{said('notification-keys')}"
    size = read_natural_size(said("size"))
    return {
        "displays": _words(read_displays(windows), _displays),
        "front": _words(read_front(windows), _front),
        "secure window": _words(read_secure(windows), _yes),
        "locked": _words(read_locked(f"{said('policy')}\n{windows}"), _yes),
        "keyboard shown": _words(read_keyboard_shown(said("input-method"), windows), _yes),
        "awake": _words(read_awake(said("power")), _yes),
        "size": _words(size, lambda its: f"{its[0]}×{its[1]}"),
        "battery": _words(read_battery(said("battery")), _battery),
        "heat": _words(read_thermal(said("thermal")), lambda its: str(its.status)),
        "free space": _words(read_free_percent(said("storage")), lambda its: f"{its} %"),
        "notifications": _words(read_notifications(notifications, _MARK), _shade),
        "users": _words(read_users(said("users")), _users),
        "current user": _words(read_current_user(said("current-user")), str),
        "packages": _words(read_packages(said("packages")), lambda its: str(len(its))),
        "apps": _words(read_launchable(said("launchable")).packages, lambda its: str(len(its))),
        "keyboard": _words(read_input_methods(said("input-methods")).chosen, str),
        "tree": _tree(said("tree"), size.value if isinstance(size, Known) else _DEFAULT_SIZE),
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

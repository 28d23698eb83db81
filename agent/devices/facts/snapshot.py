"""The one snapshot of what a phone says of itself: each field a value with its line, or unknown.

Whoever needs one field asks for it and uses its reader; this is all of them from the answers that
were kept, as in a recording. Pure. Invariants: an answer that is missing or cannot be read leaves
its own fields unknown, with the reason, and no other.
"""

from collections.abc import Mapping

from agent.devices.facts.battery import Battery, read_battery
from agent.devices.facts.displays import DisplayFacts, read_displays
from agent.devices.facts.fact import Fact
from agent.devices.facts.foreground import Front, read_front
from agent.devices.facts.input_methods import InputMethods, read_input_methods
from agent.devices.facts.keyboard import read_keyboard_shown
from agent.devices.facts.keyguard import Keyguard, read_keyguard
from agent.devices.facts.notifications import Shade, read_notifications
from agent.devices.facts.packages import Launchable, read_launchable, read_packages
from agent.devices.facts.power import read_awake
from agent.devices.facts.sizes import Size, read_natural_size
from agent.devices.facts.storage import read_free_percent
from agent.devices.facts.thermal import Thermal, read_thermal
from agent.devices.facts.users import PhoneUser, read_current_user, read_users
from agent.devices.facts.windows import read_secure
from agent.records.record import Record

_MARK = "switchboard-keys-follow"


class PhoneSnapshot(Record, frozen=True, kw_only=True):
    """What one phone said at one moment.

    Attributes:
        displays: every display, in the order of their numbers.
        front: what is in front of display 0.
        secure: whether the window there forbids pictures of itself.
        keyguard: the lock screen of display 0.
        keyboard_shown: whether a keyboard covers a part of display 0.
        natural_size: of display 0 before it is turned, in pixels.
        awake: whether the phone is awake and its screen on.
        battery, thermal: their states.
        free_percent: of /data.
        notifications: what is in the shade, and how much of it could not be read.
        users: all of them, profiles too.
        current_user: the number of the one in front.
        packages: those of the current user.
        launchable: what the current user can open.
        input_methods: those that are enabled and installed, and the chosen one.
    """

    displays: Fact[tuple[DisplayFacts, ...]]
    front: Fact[Front]
    secure: Fact[bool]
    keyguard: Fact[Keyguard]
    keyboard_shown: Fact[bool]
    natural_size: Fact[Size]
    awake: Fact[bool]
    battery: Fact[Battery]
    thermal: Fact[Thermal]
    free_percent: Fact[int]
    notifications: Fact[Shade]
    users: Fact[tuple[PhoneUser, ...]]
    current_user: Fact[int]
    packages: Fact[frozenset[str]]
    launchable: Launchable
    input_methods: InputMethods


def read_snapshot(answers: Mapping[str, str]) -> PhoneSnapshot:
    """Read what a phone answered.

    Args:
        answers: by the names of `agent.devices.recordings.questions`; what is missing is unknown.
    """

    def answer(name: str) -> str:
        return answers.get(name, "")

    windows = f"{answer('displays')}\n{answer('windows')}"
    notifications = f"{answer('notifications')}\n{_MARK}\n{answer('notification-keys')}"
    return PhoneSnapshot(
        displays=read_displays(windows),
        front=read_front(windows),
        secure=read_secure(windows),
        keyguard=read_keyguard(f"{answer('policy')}\n{windows}"),
        keyboard_shown=read_keyboard_shown(answer("input-method"), windows),
        natural_size=read_natural_size(answer("size")),
        awake=read_awake(answer("power")),
        battery=read_battery(answer("battery")),
        thermal=read_thermal(answer("thermal")),
        free_percent=read_free_percent(answer("storage")),
        notifications=read_notifications(notifications, _MARK),
        users=read_users(answer("users")),
        current_user=read_current_user(answer("current-user")),
        packages=read_packages(answer("packages")),
        launchable=read_launchable(answer("launchable")),
        input_methods=read_input_methods(answer("input-methods")),
    )

"""Probe what a phone says of itself: its displays, its lock, its keyboard, its power.

Not the readers (`agent.devices.facts`). Invariants: every fact is a row, an unknown one with its
reason; each question is a probe of its own, so that one which hangs costs no other its answer; what
later probes depend on is put into the conditions.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from agent.devices.facts.battery import BATTERY, read_battery
from agent.devices.facts.displays import DISPLAYS, DisplayFacts, read_displays
from agent.devices.facts.fact import Fact, Known, Unknown, known
from agent.devices.facts.focus import Window
from agent.devices.facts.foreground import read_front
from agent.devices.facts.input_methods import INPUT_METHODS, read_input_methods
from agent.devices.facts.keyboard import KEYBOARD, read_keyboard_shown
from agent.devices.facts.keyguard import KEYGUARD, read_locked
from agent.devices.facts.packages import launchable_command, read_launchable
from agent.devices.facts.power import POWER, read_awake
from agent.devices.facts.storage import STORAGE, read_free_percent
from agent.devices.facts.thermal import NO_SUCH_SERVICE, STATUSES, THERMAL, read_thermal
from agent.devices.facts.users import CURRENT_USER, USERS, PhoneUser, read_current_user, read_users
from agent.devices.passport.passport import Area, Outcome, Row
from agent.devices.qualify.conditions import Conditions, fact_row
from agent.devices.qualify.probe import Probe, absent
from agent.devices.shell.phone_shell import PhoneShell

_TIMEOUT_S = 6.0
_MOST_DISPLAYS = 16

T = TypeVar("T")
U = TypeVar("U")


class FactProbes:
    """The probes of what one phone says; they may run side by side.

    Args:
        conditions: filled in as answers come.
    """

    def __init__(self, shell: PhoneShell, conditions: Conditions) -> None:
        self._shell = shell
        self._conditions = conditions

    def probes(self) -> tuple[Probe, ...]:
        asked: tuple[tuple[Area, str, Callable[[], Awaitable[list[Row]]]], ...] = (
            (Area.DISPLAYS, "displays", self._displays),
            (Area.DISPLAYS, "locked", self._locked),
            (Area.DISPLAYS, "keyboard shown", self._keyboard),
            (Area.DISPLAYS, "keyboard", self._input_methods),
            (Area.PEOPLE, "users", self._users),
            (Area.PEOPLE, "apps", self._apps),
            (Area.POWER, "awake", self._awake),
            (Area.POWER, "battery", self._battery),
            (Area.POWER, "heat", self._heat),
            (Area.POWER, "free space", self._space),
        )
        return tuple(Probe(area, name, _TIMEOUT_S, ask) for area, name, ask in asked)

    async def _displays(self) -> list[Row]:
        said = await self._answer_to(DISPLAYS)
        front = read_front(said)
        self._conditions.front = _changed(front, lambda its: its.package)
        rows = [fact_row(Area.DISPLAYS, "app in front", _changed(front, lambda its: its.package))]
        match read_displays(said):
            case Unknown() as told:
                return [fact_row(Area.DISPLAYS, "displays", told), *rows]
            case Known(value=displays):
                return [*map(_display_row, displays[:_MOST_DISPLAYS]), *rows]

    async def _locked(self) -> list[Row]:
        locked = self._conditions.locked = read_locked(await self._answer_to(KEYGUARD))
        return [fact_row(Area.DISPLAYS, "locked", _words(locked))]

    async def _keyboard(self) -> list[Row]:
        shown = read_keyboard_shown(await self._answer_to(KEYBOARD))
        return [fact_row(Area.DISPLAYS, "keyboard shown", _words(shown))]

    async def _awake(self) -> list[Row]:
        awake = self._conditions.awake = read_awake(await self._answer_to(POWER))
        return [fact_row(Area.POWER, "awake", _words(awake))]

    async def _users(self) -> list[Row]:
        users = read_users(await self._answer_to(USERS))
        current = read_current_user(await self._answer_to(CURRENT_USER))
        return [
            fact_row(Area.PEOPLE, "users", _changed(users, _user_words)),
            fact_row(Area.PEOPLE, "current user", _changed(current, str)),
        ]

    async def _apps(self) -> list[Row]:
        told = read_launchable(await self._answer_to(launchable_command()))
        count = _changed(told.packages, lambda names: f"{len(names)} can be started")
        return [
            fact_row(Area.PEOPLE, "apps", count),
            fact_row(Area.PEOPLE, "unlocked since its start", _words(told.unlocked)),
        ]

    async def _battery(self) -> list[Row]:
        battery = read_battery(await self._answer_to(BATTERY))
        if isinstance(battery, Unknown):
            return [fact_row(Area.POWER, "battery", battery)]
        its = battery.value
        if isinstance(its.present, Known) and not its.present.value:
            return [fact_row(Area.POWER, "battery", known("there is none", its.present.line))]
        plugged = _changed(its.plugged, lambda ways: ", ".join(ways) or "nothing")
        return [
            fact_row(
                Area.POWER, "battery", _changed(its.level_percent, lambda level: f"{level} %")
            ),
            fact_row(Area.POWER, "charging", _words(its.charging)),
            fact_row(Area.POWER, "plugged in", plugged),
        ]

    async def _heat(self) -> list[Row]:
        said = await self._answer_to(THERMAL)
        if NO_SUCH_SERVICE in said:
            return [
                absent(
                    Area.POWER,
                    "heat",
                    "it has no thermal service; Android has one from version 10 on",
                )
            ]
        heat = read_thermal(said)
        return [fact_row(Area.POWER, "heat", _changed(heat, lambda its: STATUSES[its.status]))]

    async def _space(self) -> list[Row]:
        free = read_free_percent(await self._answer_to(STORAGE))
        return [fact_row(Area.POWER, "free space", _changed(free, lambda its: f"{its} % of /data"))]

    async def _input_methods(self) -> list[Row]:
        told = read_input_methods(await self._answer_to(INPUT_METHODS))
        installed = _changed(told.installed, lambda ids: f"{len(ids)} installed")
        return [
            fact_row(
                Area.DISPLAYS,
                "keyboard",
                _changed(told.chosen, lambda its: its or "none is chosen"),
            ),
            fact_row(Area.DISPLAYS, "keyboards", installed),
        ]

    async def _answer_to(self, command: str) -> str:
        return (await self._shell.run(command, _TIMEOUT_S)).text


def _display_row(display: DisplayFacts) -> Row:
    """Make the row of a display: what is known of it, and what is not."""
    parts: list[tuple[str, Fact[str]]] = [
        ("size", _changed(display.size, lambda size: f"{size[0]}×{size[1]}")),
        ("rotation", _changed(display.rotation, lambda turns: f"turned {turns * 90}°")),
        ("focus", _changed(display.focus, _window_words)),
        ("lock", _either(display.keyguard_showing, "locked", "unlocked")),
        ("secure", _either(display.secure, "forbids pictures", "allows pictures")),
    ]
    words = [fact.value for _, fact in parts if isinstance(fact, Known)]
    missing = [name for name, fact in parts if isinstance(fact, Unknown)]
    if missing:
        words.append(f"unknown: {', '.join(missing)}")
    size_and_focus_known = not {"size", "focus"} & set(missing)
    return Row(
        area=Area.DISPLAYS,
        name=f"display {display.number}",
        outcome=Outcome.WORKS if size_and_focus_known else Outcome.UNKNOWN,
        detail=", ".join(words),
        line=display.size.line if isinstance(display.size, Known) else "",
    )


def _user_words(users: tuple[PhoneUser, ...]) -> str:
    """Name users by number alone: a passport may be shown to others."""
    return ", ".join(
        f"{'profile' if one.is_profile else 'user'} {one.number}"
        f"{'' if one.is_running else ' (not running)'}"
        for one in users
    )


def _window_words(window: Window | None) -> str:
    if window is None:
        return "the focus is on another display"
    return f"{window.package or window.title} has the focus"


def _changed(fact: Fact[T], change: Callable[[T], U]) -> Fact[U]:
    return fact.map(change) if isinstance(fact, Known) else fact


def _either(fact: Fact[bool], yes: str, no: str) -> Fact[str]:
    return _changed(fact, lambda value: yes if value else no)


def _words(fact: Fact[bool]) -> Fact[str]:
    return _either(fact, "yes", "no")

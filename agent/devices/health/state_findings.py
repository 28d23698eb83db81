"""What facts about a phone's battery, heat, space and keyboard mean for work on it: pure.

Not the asking (`agent.devices.health.phone_checks`). Invariants: what is unknown is said with its
reason and is never called well; a remedy fits what was found, so nobody is told to charge a phone
that is plugged in.
"""

import re

from agent.devices.facts.battery import Battery
from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.facts.input_methods import NONE_CHOSEN, InputMethods
from agent.devices.facts.thermal import NO_SUCH_SERVICE, STATUSES, Thermal
from agent.devices.facts.users import PhoneUser
from agent.devices.health.findings import Repair, RepairableFinding, unknown
from agent.text import one_line

LOW_BATTERY_PERCENT = 15
LOW_STORAGE_PERCENT = 5
HOT_STATUS = 3
"""Android's THERMAL_STATUS_SEVERE; from it on, apps are slowed down."""
_ILL = frozenset({"overheated", "dead", "over voltage", "failed", "cold"})
_SHOWN = {"ac": "the mains", "usb": "USB", "wireless": "a wireless charger", "dock": "a dock"}
_NAMED_USERS = 5
_SWITCHBOARD_KEYBOARD = re.compile(r"adbkeyboard|adbime|switchboard", re.I)


def battery_finding(fact: Fact[Battery]) -> RepairableFinding:
    """Return whether the battery lasts for work, and what to do if it does not."""
    if isinstance(fact, Unknown):
        return unknown("battery", "its battery's level", fact.reason)
    battery = fact.value
    if isinstance(battery.present, Known) and not battery.present.value:
        return RepairableFinding(name="battery", ok=True, detail="it has none")
    level = battery.level_percent
    if isinstance(level, Unknown):
        return unknown("battery", "its battery's level", level.reason)
    ill = battery.health.value if isinstance(battery.health, Known) else ""
    low = level.value < LOW_BATTERY_PERCENT
    charges = isinstance(battery.charging, Known) and battery.charging.value
    plugged = isinstance(battery.plugged, Known) and bool(battery.plugged.value)
    remedy = ""
    if battery.forced:
        remedy = "Run `dumpsys battery reset` on the phone: its values were set by hand."
    elif ill in _ILL:
        remedy = "Let the phone rest, and have its battery looked at if this stays."
    elif low and plugged and not charges:
        remedy = "Use another charger, cable or port: it is plugged in and does not charge."
    elif low and not charges:
        remedy = "Charge the phone before long work."
    return RepairableFinding(
        name="battery",
        ok=not remedy,
        detail=", ".join(filter(None, _battery_words(battery, level.value, ill))),
        remedy=remedy,
    )


def _battery_words(battery: Battery, percent: int, ill: str) -> tuple[str, ...]:
    by = battery.plugged.value if isinstance(battery.plugged, Known) else ()
    source = " and ".join(_SHOWN[way] for way in by)
    match battery.charging:
        case Known(value=True) if isinstance(battery.full, Known) and battery.full.value:
            state = "full and plugged in"
        case Known(value=True):
            state = f"charging by {source}" if source else "charging"
        case Known(value=False):
            state = f"plugged in ({source}) and not charging" if source else "not charging"
        case _:
            state = "whether it charges is unknown"
    return (
        f"{percent} %",
        state,
        f"its health is {ill}" if ill in _ILL else "",
        "as set by hand" if battery.forced else "",
    )


def thermal_finding(fact: Fact[Thermal]) -> RepairableFinding:
    """Return whether the phone is so hot that it slows itself."""
    if isinstance(fact, Unknown):
        if NO_SUCH_SERVICE in fact.reason:
            detail = "it has no thermal service; Android has one from version 10 on"
            return RepairableFinding(name="thermal", ok=True, detail=detail)
        return unknown("thermal", "its temperature", fact.reason)
    ok = fact.value.status < HOT_STATUS
    by_hand = ", as set by hand" if fact.value.forced else ""
    return RepairableFinding(
        name="thermal",
        ok=ok,
        detail=f"thermal status {STATUSES[fact.value.status]}{by_hand}",
        remedy="" if ok else "Let the phone cool down: it slows itself.",
    )


def storage_finding(fact: Fact[int]) -> RepairableFinding:
    """Return whether there is space for what work writes; `fact` is the free part in percent."""
    if isinstance(fact, Unknown):
        return unknown("storage", "how much space it has", fact.reason)
    ok = fact.value >= LOW_STORAGE_PERCENT
    return RepairableFinding(
        name="storage",
        ok=ok,
        detail=f"{fact.value} % of /data is free",
        remedy="" if ok else "Delete files or apps on the phone.",
        repair=None if ok else Repair.STORAGE,
    )


def keyboard_finding(methods: InputMethods) -> RepairableFinding:
    """Return whether the phone has its own keyboard, and one that works."""
    if isinstance(methods.chosen, Unknown):
        return unknown("keyboard", "which keyboard is chosen", methods.chosen.reason)
    chosen = methods.chosen.value
    enabled = methods.enabled
    remedy, detail = "", one_line(chosen, 120)
    if chosen == NONE_CHOSEN:
        remedy, detail = "Give the phone its own keyboard back.", "none is chosen"
    elif _SWITCHBOARD_KEYBOARD.search(chosen):
        remedy = "Give the phone its own keyboard back."
    elif isinstance(enabled, Known) and chosen.partition(";")[0] not in enabled.value:
        remedy, detail = "Give the phone a keyboard that is enabled.", f"{detail} is not enabled"
    return RepairableFinding(
        name="keyboard",
        ok=not remedy,
        detail=detail,
        remedy=remedy,
        repair=Repair.KEYBOARD if remedy else None,
    )


def apps_finding(
    packages: Fact[frozenset[str]], user: Fact[int], users: Fact[tuple[PhoneUser, ...]]
) -> RepairableFinding:
    """Return whether the phone lists its apps, and which users' apps are not among them."""
    if isinstance(packages, Unknown):
        return unknown("apps", "its apps", packages.reason)
    everybody = users.value if isinstance(users, Known) else ()
    current = user.value if isinstance(user, Known) else None
    of = "".join(
        f" of user {one.number} ({one.name})" for one in everybody if one.number == current
    )
    others = [
        f"{one.name} ({one.number}, {'a profile' if one.is_profile else 'another user'})"
        for one in everybody
        if current is not None and one.number != current
    ]
    beside = f"; not those of {', '.join(others[:_NAMED_USERS])}" if others else ""
    return RepairableFinding(
        name="apps", ok=True, detail=f"{len(packages.value)} packages{of}{one_line(beside, 300)}"
    )

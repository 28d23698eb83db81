"""What facts about a phone's screen, lock and windows mean for work on it: pure.

Not the asking (`agent.devices.health.phone_checks`). Invariant: what is unknown is said with its
reason and is never called well.
"""

from agent.devices.facts.fact import Fact, Known, Unknown
from agent.devices.facts.focus import Cover
from agent.devices.facts.keyguard import Keyguard
from agent.devices.facts.windows import ListedWindow
from agent.devices.health.findings import Repair, RepairableFinding, unknown
from agent.text import one_line


def screen_finding(fact: Fact[bool]) -> RepairableFinding:
    """Return whether the screen is on."""
    if isinstance(fact, Unknown):
        return unknown("screen", "whether its screen is on", fact.reason)
    return RepairableFinding(
        name="screen",
        ok=fact.value,
        detail="on" if fact.value else "off",
        remedy="" if fact.value else "Wake it.",
        repair=None if fact.value else Repair.WAKE,
    )


def lock_finding(fact: Fact[Keyguard]) -> RepairableFinding:
    """Return whether the phone is unlocked; an app may cover its lock screen."""
    if isinstance(fact, Unknown):
        return unknown("lock", "whether it is locked", fact.reason)
    if not fact.value.showing:
        return RepairableFinding(name="lock", ok=True, detail="unlocked")
    covered = isinstance(fact.value.covered, Known) and fact.value.covered.value
    return RepairableFinding(
        name="lock",
        ok=False,
        detail="locked, with an app over the lock screen" if covered else "the lock screen shows",
        remedy="Unlock it.",
        repair=Repair.UNLOCK,
    )


def dialogs_finding(fact: Fact[tuple[ListedWindow, ...]]) -> RepairableFinding:
    """Return whether a dialog about a crashed or stuck app is open."""
    if isinstance(fact, Unknown):
        return unknown("dialogs", "which windows it shows", fact.reason)
    titles = [
        one.window.title
        for one in fact.value
        if one.window.cover in {Cover.NOT_RESPONDING, Cover.CRASHED}
    ]
    if not titles:
        return RepairableFinding(name="dialogs", ok=True, detail="none")
    return RepairableFinding(
        name="dialogs",
        ok=False,
        detail=f"{one_line(titles[0], 60)} is in front",
        remedy="Close it.",
        repair=Repair.DIALOGS,
    )

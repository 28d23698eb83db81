"""What an examination of a phone finds, and what can be put right of it."""

from enum import StrEnum

from agent.devices.health.doctor import Finding


class Repair(StrEnum):
    """What can be put right by adb."""

    WAKE = "wake"
    UNLOCK = "unlock"
    KEYBOARD = "keyboard"
    DIALOGS = "dialogs"
    STORAGE = "storage"
    CLOCK = "clock"


class RepairableFinding(Finding, frozen=True, kw_only=True):
    """One finding about a phone, with its repair where there is one."""

    repair: Repair | None = None
    took_ms: int = 0


def latency(name: str, took_ms: int, slow_ms: int, what: str) -> RepairableFinding:
    """Make the finding of a way that took so long; it is ill when that is too long."""
    ok = took_ms <= slow_ms
    return RepairableFinding(
        name=name,
        ok=ok,
        detail=f"{what} in {took_ms} ms",
        remedy="" if ok else "Use a better cable or network, or restart the phone.",
        took_ms=took_ms,
    )


def unknown(name: str, what: str, why: str = "") -> RepairableFinding:
    """Make the finding for what a phone does not tell, which is no sign of health."""
    return RepairableFinding(
        name=name,
        ok=False,
        detail=f"the phone does not report {what}{f': {why}' if why else ''}",
        remedy="Look at the phone; nothing is known of this.",
    )

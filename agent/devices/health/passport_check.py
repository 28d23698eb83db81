"""Examine whether a phone has a passport that sessions go by: one of this phone and this build."""

import asyncio
from datetime import UTC, datetime

from agent.devices.health.findings import RepairableFinding
from agent.devices.passport.passport_file import PassportFolder
from agent.devices.shell.profile import Profile


async def examine_passport(
    passports: PassportFolder, serial: str, profile: Profile
) -> RepairableFinding:
    """Return whether there is one, and from when; a phone without is driven as usual."""
    phone = profile.phone or serial
    passport = await asyncio.to_thread(passports.load, phone)
    remedy = f"Run: switchboard devices qualify {serial}"
    if passport is None:
        return _finding("there is none: ways are tried in their usual order", remedy)
    made = f"{datetime.fromtimestamp(passport.made_ms / 1000, tz=UTC):%Y-%m-%d}"
    if not passport.is_of(phone, profile.fingerprint):
        return _finding(f"that of {made} is of another build, and is not used", remedy)
    chosen = passport.choices
    ways = (chosen.capture, chosen.tree, chosen.input)
    told = ", ".join(way.value for way in ways if way is not None) or "no way was seen to work"
    return _finding(f"of {made}, for this build: {told}", "")


def _finding(detail: str, remedy: str) -> RepairableFinding:
    return RepairableFinding(name="passport", ok=True, detail=detail, remedy=remedy)

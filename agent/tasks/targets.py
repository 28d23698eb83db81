"""Check what a planner proposes: each target can be started, and each is asked for once; pure.

Invariants: what passes names a phone that is online, or none, and an app that is installed there
and may be driven, or none; system parts and our own helpers are never targets (CONTRACTS 1.9); an
app for which nobody said where it is to end is hidden where its phone can detach it (A3).
"""

from collections import Counter
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from agent.protocol import Target
from agent.records import TargetPresentation
from agent.tasks.delegation import PhoneView
from agent.text import clean, one_line

MAX_TARGETS = 16
MAX_OBJECTIVE_CHARS = 4000
FORBIDDEN_PACKAGES = frozenset(
    {
        "android",
        "com.android.shell",
        "com.android.systemui",
        "com.android.keyguard",
        "com.android.providers.settings",
        "com.android.adbkeyboard",
        "com.github.uiautomator",
        "com.github.uiautomator.test",
        "com.genymobile.scrcpy",
    }
)
"""Parts of the system, and the helpers that drive a phone: they are tools, never targets."""


class BadTargets(Exception):
    """A proposal cannot be carried out; the text says what to propose instead."""


def checked_targets(
    proposed: Sequence[Target], phones: Sequence[PhoneView], *, unsaid: Collection[int] = ()
) -> tuple[Target, ...]:
    """Return the targets as they can be started: deduplicated, phones by serial, apps found.

    A target that names an app and no phone gets the phone with that app and the fewest targets.

    Args:
        unsaid: numbers, from 1, of those for which nobody said where the app is to be in the end.

    Raises:
        BadTargets: one of them cannot be started; nothing is to be.
    """
    if not proposed:
        raise BadTargets("`targets` is empty: propose at least one, or work alone")
    if len(proposed) > MAX_TARGETS:
        raise BadTargets(f"{len(proposed)} targets are too many; at most {MAX_TARGETS}")
    placed: list[Target] = []
    load: Counter[str] = Counter()
    for number, target in enumerate(proposed, start=1):
        objective = clean(target.objective, MAX_OBJECTIVE_CHARS).strip()
        if not objective:
            raise BadTargets(f"target {number} has no `objective`")
        phone = _phone(target, number, phones)
        if target.package in FORBIDDEN_PACKAGES:
            raise BadTargets(f"target {number}: {target.package} is not an app to drive")
        if phone is None and target.package:
            phone = _with_app(target, number, phones, load)
        elif phone is not None and target.package and not _has(phone, target.package):
            raise BadTargets(
                f"target {number}: {one_line(target.package, 80)} is not installed on "
                f"{phone.info.serial}"
            )
        serial = "" if phone is None else phone.info.serial
        load[serial] += 1
        required = (
            _default_presentation(target, phone)
            if number in unsaid
            else _presentation(target, number, phone)
        )
        placed.append(replace(target, objective=objective, serial=serial, presentation=required))
    return _once_each(placed)


def _phone(target: Target, number: int, phones: Sequence[PhoneView]) -> PhoneView | None:
    if not target.serial:
        return None
    wanted = target.serial.strip().casefold()
    for phone in phones:
        if phone.info.serial.casefold() == wanted:
            return phone
    named = [phone for phone in phones if phone.info.name and phone.info.name.casefold() == wanted]
    if len(named) == 1:
        return named[0]
    known = ", ".join(phone.info.serial for phone in phones) or "none"
    raise BadTargets(
        f"target {number}: no phone {one_line(target.serial, 60)!r} is online; online: {known}"
    )


def _with_app(
    target: Target, number: int, phones: Sequence[PhoneView], load: Counter[str]
) -> PhoneView:
    able = [phone for phone in phones if _has(phone, target.package)]
    if not able:
        raise BadTargets(
            f"target {number}: {one_line(target.package, 80)} is not installed on any phone"
        )
    return min(able, key=lambda phone: load[phone.info.serial])


def _has(phone: PhoneView, package: str) -> bool:
    return not phone.apps_known or any(app.package == package for app in phone.apps)


def _presentation(target: Target, number: int, phone: PhoneView | None) -> TargetPresentation:
    wanted = target.presentation
    if not wanted.is_detached:
        return wanted
    if not target.package:
        raise BadTargets(f"target {number}: only an app can be {wanted}; name its `package`")
    if phone is not None and phone.detach_refusal:
        raise BadTargets(
            f"target {number}: {phone.info.serial} cannot detach an app: "
            f"{one_line(phone.detach_refusal, 200)}; propose ATTACHED"
        )
    return wanted


def _default_presentation(target: Target, phone: PhoneView | None) -> TargetPresentation:
    if target.package and phone is not None and not phone.detach_refusal:
        return TargetPresentation.DETACHED_HIDDEN
    return TargetPresentation.AGENT_CHOICE


def on_main_displays(targets: Sequence[Target], phones: Sequence[PhoneView]) -> tuple[str, ...]:
    """Return which apps work on a main display because their phone cannot detach them, and why."""
    refusals = {phone.info.serial: phone.detach_refusal for phone in phones}
    return tuple(
        f"{target.package} works on the main display of {target.serial}, which cannot detach it: "
        f"{one_line(refusals[target.serial], 200)}"
        for target in targets
        if target.package
        and target.presentation is TargetPresentation.AGENT_CHOICE
        and refusals.get(target.serial)
    )


def _once_each(targets: Sequence[Target]) -> tuple[Target, ...]:
    """Drop what says the same twice, and refuse two drivers for one app."""
    distinct = tuple(dict.fromkeys(targets))
    apps = Counter((one.serial, one.package) for one in distinct if one.serial and one.package)
    for (serial, package), count in apps.items():
        if count > 1:
            raise BadTargets(
                f"{package} on {serial} has {count} targets; put its work into one objective"
            )
    return distinct

"""Why work waits for a phone, in a sentence; pure.

Invariant: what is said is true of the phones as they were handed in, and names the phone, the
account or the need that it hangs on.
"""

from collections.abc import Mapping, Sequence

from agent.placement.phone_facts import Fit, fit_of
from agent.placement.placing import Ask, Phone, Shares
from agent.records import DeviceState
from agent.text import one_line

_NAMED = 3  # How many phones are named; of more, only the count.


def why_waiting(
    ask: Ask, phones: Sequence[Phone], shares: Shares, holders: Mapping[str, str]
) -> str:
    """Return what work waits for.

    Args:
        ask: the work.
        phones: all there are.
        shares: what accounts have.
        holders: who has each phone that work has, by serial.
    """
    if shares.most and not ask.unlimited and shares.busy.get(ask.account, 0) >= shares.most:
        whose = f"account {ask.account}" if ask.account else "its account"
        return f"waiting: {whose} has {shares.most} at work, the most it may at once"
    if ask.serial and not ask.needs.restricts:
        return _for_one(ask.serial, phones, holders)
    if not ask.needs.restricts:
        return "waiting for a free device"
    wanted = f"waiting for {ask.serial or 'a phone'} with {ask.needs.shown}"
    among = [one for one in phones if ask.serial in ("", one.info.serial)]
    fits = {one.info.serial: fit_of(ask.needs, one.info, one.facts) for one in among}
    having = [one for one in among if fits[one.info.serial] is Fit.YES]
    asked = sum(
        fits[one.info.serial] is Fit.UNKNOWN and one.info.state is DeviceState.ONLINE
        for one in among
    )
    unsaid = [
        one
        for one in among
        if fits[one.info.serial] is Fit.UNSAID and one.info.state is DeviceState.ONLINE
    ]
    of = f"{len(having) or 'none'} of {len(among)} {'has' if len(having) < 2 else 'have'} it"
    parts = [of] if having or not (asked or unsaid) else []
    parts += [f"{asked} of {len(among)} not asked yet"] if asked else []
    parts += [_does_not_say(one, ask) for one in unsaid[:_NAMED]]
    parts += [f"{len(unsaid) - _NAMED} more do not say"] if len(unsaid) > _NAMED else []
    if having:
        parts.append(_in_use_or_away(having, holders))
    return f"{wanted}: {', '.join(parts)}"


def _does_not_say(phone: Phone, ask: Ask) -> str:
    whys = phone.facts.unsaid(ask.needs) if phone.facts is not None else ()
    why = "; ".join(whys) or "its Android or its screen is not known yet"
    return f"{phone.info.serial} does not say ({one_line(why, 200)})"


def _for_one(serial: str, phones: Sequence[Phone], holders: Mapping[str, str]) -> str:
    said = f"waiting for {serial}"
    for one in phones:
        if one.info.serial == serial and one.info.state is not DeviceState.ONLINE:
            return f"{said}, which is {one.info.state}"
        if one.info.serial == serial and one.info.driver:
            return f"{said}, which {one.info.driver} drives"
    return f"{said}, which {holders[serial]} has" if serial in holders else said


def _in_use_or_away(having: Sequence[Phone], holders: Mapping[str, str]) -> str:
    away = [one for one in having if one.info.state is not DeviceState.ONLINE]
    busy = [one for one in having if one not in away]
    parts = []
    if busy:
        parts.append(_count(len(busy), len(having)) + "in use" + _by(busy, holders))
    if away:
        parts.append(_count(len(away), len(having)) + "not online")
    return " and ".join(parts)


def _count(n: int, of: int) -> str:
    if n == of:
        return {1: "", 2: "both "}.get(n, f"all {n} ")
    return f"{n} "


def _by(busy: Sequence[Phone], holders: Mapping[str, str]) -> str:
    names = [one.info.driver or holders.get(one.info.serial, "") for one in busy]
    if len(busy) > _NAMED or not all(names):
        return ""
    return f" by {', '.join(one_line(name, 40) for name in names)}"

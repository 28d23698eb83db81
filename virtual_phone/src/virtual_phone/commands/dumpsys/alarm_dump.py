"""`dumpsys alarm`: the clock app's alarms, as the alarm manager lists pending ones.

Not all of what that service prints: the header, the batch and one block an alarm. Format: after
AlarmManagerService of Android 14.
"""

import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from virtual_phone.apps.clock import Alarm
    from virtual_phone.phone import Phone

CLOCK = "com.android.deskclock"
ACTION = f"{CLOCK}.ALARM_ALERT"


def dump_alarm(phone: "Phone", words: list[str]) -> str:
    """Return the report of the alarm service."""
    del words
    from virtual_phone.apps.clock import Clocks

    now = datetime.datetime.fromtimestamp(phone.now(), datetime.UTC)
    data = phone.app_data.of_package(CLOCK)
    alarms = [one for one in data.alarms if one.on] if isinstance(data, Clocks) else []
    due = sorted(((_next(now, one), one) for one in alarms), key=lambda pair: pair[0])
    rows = [
        "Current Alarm Manager state:",
        f"  nowRTC={round(phone.now() * 1000)}={_stamp(now)}",
        "",
        "  Next alarm clock information: ",
    ]
    for at, _ in due[:1]:
        rows.append(f"    user:0 pendingSend:false time:{_ms(at)} = {_stamp(at)}")
    rows += ["", f"  {len(due)} pending alarms: "]
    for at, one in due:
        tag = f"{one.id:07x}"
        rows += [
            f"    RTC_WAKEUP #{one.id}: Alarm{{{tag} type 0 origWhen {_ms(at)} whenElapsed "
            f"{_ms(at) - round(phone.now() * 1000)} {CLOCK}}}",
            f"      tag=*walarm*:{ACTION}",
            f"      type=RTC_WAKEUP origWhen={_stamp(at)} window=0 repeatInterval=0 count=0 "
            "flags=0x3",
            "      Alarm clock:",
            f"        triggerTime={_stamp(at)}",
            f"        label={one.label or 'Alarm'}",
            f"      operation=PendingIntent{{{tag}: PendingIntentRecord{{{tag} {CLOCK} "
            "broadcastIntent}}",
        ]
    return "\n".join(rows)


def _next(now: datetime.datetime, alarm: "Alarm") -> datetime.datetime:
    at = now.replace(hour=alarm.hour, minute=alarm.minute, second=0, microsecond=0)
    return at if at > now else at + datetime.timedelta(days=1)


def _ms(at: datetime.datetime) -> int:
    return round(at.timestamp() * 1000)


def _stamp(at: datetime.datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S.") + f"{at.microsecond // 1000:03d}"

"""`dumpsys notification` and `cmd notification`: what is in the shade, record by record.

The lines are in the table `notification`. Invariant: the keys of both commands are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from virtual_phone.shell.call import Call, CommandError
from virtual_phone.state.records import Notice

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

SHELL = "com.android.shell"
ONGOING = 2  # Notification.FLAG_ONGOING_EVENT
ZEN_MODES = {"off": 0, "all": 0, "priority": 1, "on": 2, "none": 2, "alarms": 3}
"""Words of `cmd notification set_dnd` (NotificationShellCmd) for `Settings.Global.ZEN_MODE`."""
_CATEGORIES = {"com.android.messaging": "msg", "com.android.email": "email"}


def notice_key(phone: Phone, notice: Notice) -> str:
    """Return a notification's key: user, package, id, tag and uid."""
    uid = phone.processes.uid_of(notice.package)
    return f"0|{notice.package}|{notice.id}|{notice.tag or 'null'}|{uid}"


def dump_notification(phone: Phone, words: list[str]) -> str:
    """Return `dumpsys notification [--noredact]`."""
    table = phone.form_factor.lines("notification")
    redacts = "--noredact" not in words
    notices = phone.notifications.all()
    some = {"any": "yes" if notices else ""}
    rows = table["head"].lines(some)
    for notice in notices:
        category = _CATEGORIES.get(notice.package, "")
        values = {
            "hash": f"{notice.id * 2_654_435_761 & 0xFFFFFFF:08x}",
            "package": notice.package,
            "user": "0",
            "id": str(notice.id),
            "tag": notice.tag or "null",
            "importance": "2" if notice.ongoing else "3",
            "key": notice_key(phone, notice),
            "channel": "shell_cmd" if notice.package == SHELL else "default",
            "flags_hex": f"{ONGOING if notice.ongoing else 0:x}",
            "flags": "ONGOING_EVENT" if notice.ongoing else "0",
            "category": f" category={category}" if category else "",
            "uid": str(phone.processes.uid_of(notice.package)),
            "title": _text(notice.title, redacts=redacts),
            "text": _text(notice.text, redacts=redacts),
            "when": str(phone.power.since_start_ms(notice.when)),
        }
        rows += table["record"].lines(values)
    return "\n".join(rows + table["tail"].lines(some))


def _text(text: str, *, redacts: bool) -> str:
    return f"[length={len(text)}]" if redacts else f"({text})"


async def notification_command(call: Call, words: list[str]) -> int:
    """Run `cmd notification list`, `get KEY` and `post`."""
    phone = call.phone
    match words:
        case ["list"] if phone.form_factor.android.can("notification_list"):
            for notice in phone.notifications.all():
                await call.line(notice_key(phone, notice))
        case ["get", key] if phone.form_factor.android.can("notification_list"):
            if not any(notice_key(phone, one) == key for one in phone.notifications.all()):
                await call.line("no record found.")
        case ["post", *rest]:
            await _post(call, rest)
        case ["set_dnd", wanted, *_]:
            if wanted not in ZEN_MODES:
                raise CommandError(f"Unknown zen mode {wanted}", 255)
            phone.settings.put("global", "zen_mode", str(ZEN_MODES[wanted]))
            phone.invalidate()
        case _:
            raise CommandError(f"Unknown command: {(words or [''])[0]}", 255)
    return 0


async def _post(call: Call, words: list[str]) -> None:
    title = ""
    rest = list(words)
    plain: list[str] = []
    while rest:
        word = rest.pop(0)
        if word in ("-t", "--title") and rest:
            title = rest.pop(0)
        elif word in ("-S", "--style", "-c", "--content-intent", "-i", "-I") and rest:
            rest.pop(0)
        elif not word.startswith("-"):
            plain.append(word)
    if len(plain) < 2:
        raise CommandError("usage: cmd notification post [flags] <tag> <text>", 255)
    tag = plain[0]
    # As the shell posts under one id, a tag that is there already is replaced.
    old = (n.id for n in call.phone.notifications.all() if n.package == SHELL and n.tag == tag)
    number = next(old, None) or call.phone.state_record.take_id()
    call.phone.notifications.post(
        Notice(number, SHELL, title or "Shell", plain[1], call.userland.now(), tag=tag)
    )
    await call.line("posting:")
    await call.line(f"  Notification(channel=shell_cmd shortcut=null title={title!r})")

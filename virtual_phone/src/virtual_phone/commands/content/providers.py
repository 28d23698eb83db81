"""Content providers over the apps' true state: settings, SMS, contacts, calls, calendar, pictures.

What a provider's columns are called and mean follows android.provider of Android 14. Not a copy:
an inserted message is in the Messages app at once. Invariant: rows keep their `_id` while they
live.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from virtual_phone.apps.calendar import Events
from virtual_phone.apps.dialer import Calls
from virtual_phone.apps.messages_data import Message, Messages, Thread, thread_of
from virtual_phone.commands.content.contact_rows import EMAIL, PHONE, ContactDataRows, ContactRows
from virtual_phone.commands.content.rows import Provider, Row, Values, number_of, state_of, text_of
from virtual_phone.numbers import is_number
from virtual_phone.shell.call import CommandError
from virtual_phone.state.settings_provider import NAMESPACES

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class _ReadOnly:
    """A table that the shell may only read."""

    columns: ClassVar[tuple[str, ...]] = ()

    def insert(self, values: Values) -> None:
        raise _refused(self)

    def update(self, row: Row, values: Values) -> None:
        raise _refused(self)

    def delete(self, row: Row) -> None:
        raise _refused(self)


def _refused(table: object) -> CommandError:
    return CommandError(
        f"java.lang.UnsupportedOperationException: {type(table).__name__.lower()} is read-only here"
    )


@dataclass(slots=True)
class SettingsRows:
    """`content://settings/system|secure|global[/KEY]`."""

    phone: Phone
    namespace: str
    key: str = ""
    columns: ClassVar[tuple[str, ...]] = ("_id", "name", "value", "is_preserved_in_restore")

    def rows(self) -> list[Row]:
        """Return the rows, those of one key where one was named."""
        listed = enumerate(self.phone.settings.list(self.namespace).items(), 1)
        return [
            {"_id": number, "name": name, "value": value, "is_preserved_in_restore": 0}
            for number, (name, value) in listed
            if not self.key or name == self.key
        ]

    def insert(self, values: Values) -> None:
        """Write a value; an old one is replaced."""
        name = values.get("name") or self.key
        if not name:
            raise CommandError("java.lang.IllegalArgumentException: Invalid setting: no name")
        self.phone.settings.put(self.namespace, str(name), text_of(values.get("value")))

    def update(self, row: Row, values: Values) -> None:
        self.phone.settings.put(self.namespace, str(row["name"]), text_of(values.get("value")))

    def delete(self, row: Row) -> None:
        self.phone.settings.delete(self.namespace, str(row["name"]))


@dataclass(slots=True)
class SmsRows:
    """`content://sms[/inbox|sent|draft]`: the messages of every thread, the newest first."""

    phone: Phone
    box: str = ""
    columns: ClassVar[tuple[str, ...]] = (
        "_id",
        "thread_id",
        "address",
        "person",
        "date",
        "date_sent",
        "protocol",
        "read",
        "status",
        "type",
        "reply_path_present",
        "subject",
        "body",
        "service_center",
        "locked",
        "sub_id",
        "error_code",
        "creator",
        "seen",
    )

    @property
    def _data(self) -> Messages:
        return state_of(self.phone, "com.android.messaging", Messages)

    def rows(self) -> list[Row]:
        """Return the messages of the box, all of them where none was named."""
        found: list[Row] = []
        for thread, message in self._numbered():
            kind = 2 if message.mine else 1
            if self.box in ("inbox", "sent") and self.box != ("sent" if kind == 2 else "inbox"):
                continue
            if self.box in ("draft", "outbox", "failed", "queued", "undelivered"):
                continue
            unread = not message.mine and message in thread.messages[-thread.unread :] * bool(
                thread.unread
            )
            found.append(
                {
                    "_id": message.id,
                    "thread_id": thread.id,
                    "address": thread.number,
                    "date": int(message.when * 1000),
                    "date_sent": 0 if message.mine else int(message.when * 1000),
                    "protocol": None if message.mine else 0,
                    "read": int(not unread),
                    "status": -1,
                    "type": 5 if message.status == "failed" else kind,
                    "body": message.body,
                    "locked": 0,
                    "sub_id": 1,
                    "error_code": 0,
                    "creator": "com.android.messaging",
                    "seen": 1,
                }
            )
        return sorted(found, key=lambda row: -int(row["date"] or 0))

    def _numbered(self) -> list[tuple[Thread, Message]]:
        """Return every message, the oldest first, each with a number that it keeps."""
        data = self._data
        found = [(thread, one) for thread in data.threads for one in thread.messages]
        found.sort(key=lambda pair: pair[1].when)
        last = max((one.id for _, one in found), default=0)
        for _, one in found:
            if not one.id:
                last += 1
                one.id = last
        return found

    def insert(self, values: Values) -> None:
        """Put a message into the thread of its address."""
        address = text_of(values.get("address"))
        if not address:
            raise CommandError("java.lang.IllegalArgumentException: address is required")
        data = self._data
        thread = thread_of(data, address)
        if thread is None:
            thread = Thread(data.next_id, address, address)
            data.next_id += 1
            data.threads.append(thread)
        kind = number_of(values.get("type"), 2 if self.box == "sent" else 1)
        at_ms = number_of(values.get("date"), self.phone.now() * 1000)
        message = Message(text_of(values.get("body")), at_ms / 1000, mine=kind != 1)
        thread.messages.append(message)
        thread.messages.sort(key=lambda one: one.when)
        if kind == 1 and not number_of(values.get("read"), 0):
            thread.unread += 1

    def update(self, row: Row, values: Values) -> None:
        """Change a message's words, or whether it was read."""
        for thread, message in self._numbered():
            if message.id != row["_id"]:
                continue
            if "body" in values:
                message.body = text_of(values["body"])
            if "read" in values:
                thread.unread = max(0, thread.unread + (-1 if number_of(values["read"], 0) else 1))

    def delete(self, row: Row) -> None:
        """Remove a message; a thread without messages goes too."""
        data = self._data
        for thread in list(data.threads):
            thread.messages[:] = [one for one in thread.messages if one.id != row["_id"]]
            thread.unread = min(thread.unread, len(thread.messages))
            if not thread.messages:
                data.threads.remove(thread)


class CallRows(_ReadOnly):
    """`content://call_log/calls`."""

    columns: ClassVar[tuple[str, ...]] = (
        "_id",
        "number",
        "date",
        "duration",
        "type",
        "new",
        "name",
        "countryiso",
    )
    _TYPES: Mapping[str, int] = {"incoming": 1, "outgoing": 2, "missed": 3}

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def rows(self) -> list[Row]:
        """Return the calls, the newest first."""
        calls = state_of(self._phone, "com.android.dialer", Calls).calls
        return [
            {
                "_id": len(calls) - i,
                "number": one.number,
                "date": int(one.when * 1000),
                "duration": 0,
                "type": self._TYPES.get(one.kind, 2),
                "new": int(one.kind == "missed"),
                "name": one.name if one.name != one.number else None,
                "countryiso": "US",
            }
            for i, one in enumerate(calls)
        ]


class EventRows(_ReadOnly):
    """`content://com.android.calendar/events`."""

    columns: ClassVar[tuple[str, ...]] = (
        "_id",
        "calendar_id",
        "title",
        "eventLocation",
        "dtstart",
        "dtend",
        "allDay",
    )

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def rows(self) -> list[Row]:
        events = state_of(self._phone, "com.android.calendar", Events).events
        return [
            {
                "_id": one.id,
                "calendar_id": 1,
                "title": one.title,
                "eventLocation": one.place or None,
                "dtstart": _stamp_ms(one.day, one.start),
                "dtend": _stamp_ms(one.day, one.end),
                "allDay": 0,
            }
            for one in events
        ]


class PictureRows(_ReadOnly):
    """`content://media/external/images/media`."""

    columns: ClassVar[tuple[str, ...]] = (
        "_id",
        "_display_name",
        "_data",
        "_size",
        "mime_type",
        "date_modified",
        "relative_path",
    )

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def rows(self) -> list[Row]:
        """Return the pictures of the shared storage, the oldest first."""
        return [
            {
                "_id": number,
                "_display_name": one.name,
                "_data": f"/storage/emulated/0/{one.path}",
                "_size": one.size,
                "mime_type": mimetypes.guess_type(one.name)[0] or "image/*",
                "date_modified": int(one.modified),
                "relative_path": one.path.removesuffix(one.name),
            }
            for number, one in enumerate(reversed(self._phone.storage.pictures()), 1)
        ]


def _stamp_ms(day: str, clock: str) -> int | None:
    try:
        at = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int(at.timestamp() * 1000)


_CONTACTS: Mapping[str, Callable[[Phone], Provider]] = {
    "contacts": ContactRows,
    "raw_contacts": lambda phone: ContactRows(phone, raw=True),
    "data": ContactDataRows,
    "data/phones": lambda phone: ContactDataRows(phone, PHONE),
    "data/emails": lambda phone: ContactDataRows(phone, EMAIL),
    "phones": lambda phone: ContactDataRows(phone, PHONE),
}
_SMS_BOXES = ("inbox", "sent", "draft", "outbox", "failed", "queued", "undelivered")


def provider_of(phone: Phone, authority: str, path: str) -> tuple[Provider, str] | None:
    """Return the table that an address means, and the row's id where it ends in one.

    Raises:
        CommandError: the authority has no such table, or the shell may not read it.
    """
    path = path.strip("/")
    if authority == "settings":
        namespace, _, key = path.partition("/")
        if namespace in NAMESPACES:
            return SettingsRows(phone, namespace, key), ""
        raise CommandError(f"java.lang.IllegalArgumentException: Invalid URI: {path}")
    if authority == "telephony":
        raise CommandError("java.lang.SecurityException: No permission to access APN settings")
    head, _, last = path.rpartition("/")
    number = last if is_number(last) else ""
    table = head if number else path
    made: Provider | None = None
    match authority:
        case "sms" if table in ("", *_SMS_BOXES):
            made = SmsRows(phone, table)
        case "com.android.contacts" | "contacts" if table in _CONTACTS:
            made = _CONTACTS[table](phone)
        case "contacts" if not table:
            made = ContactRows(phone)
        case "call_log" if table == "calls":
            made = CallRows(phone)
        case "com.android.calendar" if table == "events":
            made = EventRows(phone)
        case "media" if table in ("external/images/media", "external_primary/images/media"):
            made = PictureRows(phone)
        case "sms" | "com.android.contacts" | "contacts" | "call_log" | "com.android.calendar":
            raise CommandError(f"java.lang.IllegalArgumentException: Unknown URL {path}")
        case "media":
            raise CommandError(f"java.lang.IllegalArgumentException: Unknown URL {path}")
        case _:
            return None
    return made, number

"""Content providers over the apps' true state: settings, calls, calendar, pictures.

What a provider's columns are called and mean follows android.provider of Android 14. Not a copy:
an inserted message is in the Messages app at once. Invariant: rows keep their `_id` while they
live.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from virtual_phone.apps.calendar import Events
from virtual_phone.apps.dialer import Calls
from virtual_phone.commands.content.contact_rows import contact_search, contact_table
from virtual_phone.commands.content.message_rows import (
    AddressRows,
    LastMessageRows,
    ThreadRows,
    mms_table,
    sms_table,
)
from virtual_phone.commands.content.rows import Provider, ReadOnly, Row, Values, state_of, text_of
from virtual_phone.numbers import is_number
from virtual_phone.shell.call import CommandError
from virtual_phone.state.settings_provider import NAMESPACES

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


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


class CallRows(ReadOnly):
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


class EventRows(ReadOnly):
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


class InstanceRows(ReadOnly):
    """`content://com.android.calendar/instances/when/BEGIN/END`: what lies in a time."""

    columns: ClassVar[tuple[str, ...]] = (
        "_id",
        "event_id",
        "begin",
        "end",
        "title",
        "eventLocation",
        "allDay",
        "calendar_id",
    )

    def __init__(self, phone: Phone, begin_ms: int, end_ms: int) -> None:
        self._events = EventRows(phone)
        self._between = begin_ms, end_ms

    def rows(self) -> list[Row]:
        """Return the events that touch the time, the first first."""
        begin, end = self._between
        found = [
            {**row, "event_id": row["_id"], "begin": row["dtstart"], "end": row["dtend"]}
            for row in self._events.rows()
            if int(row["dtstart"] or 0) <= end and int(row["dtend"] or 0) >= begin
        ]
        return sorted(found, key=lambda row: int(row["begin"] or 0))


class PictureRows(ReadOnly):
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


@dataclass(frozen=True, slots=True)
class ProviderTable:
    """What an address means: a table, one row of it by `number`, and whether it heeds an order."""

    table: Provider
    number: str = ""
    heeds_order: bool = True


def provider_of(
    phone: Phone, authority: str, path: str, query: Mapping[str, str]
) -> ProviderTable | None:
    """Return what an address means; None where no app has such an authority.

    Raises:
        CommandError: the authority has no such table, or the shell may not read it.
    """
    path = path.strip("/")
    head, _, last = path.rpartition("/")
    number = last if is_number(last) else ""
    table = head if number else path
    match authority:
        case "settings":
            return ProviderTable(_settings(phone, path))
        case "telephony":
            raise CommandError("java.lang.SecurityException: No permission to access APN settings")
        case "sms":
            return _table_or_refusal(sms_table(phone, table), number, path)
        case "mms":
            return _table_or_refusal(mms_table(table), number, path)
        case "mms-sms":
            return _conversations(phone, path, simple=query.get("simple") == "true")
        case "com.android.contacts" | "contacts":
            if (search := contact_search(phone, path)) is not None:
                return ProviderTable(search)
            return _table_or_refusal(contact_table(phone, authority, table), number, path)
        case "call_log":
            return _table_or_refusal(CallRows(phone) if table == "calls" else None, number, path)
        case "com.android.calendar":
            return _calendar(phone, path, table, number)
        case "media":
            known = table in ("external/images/media", "external_primary/images/media")
            return _table_or_refusal(PictureRows(phone) if known else None, number, path)
        case _:
            return None


def _table_or_refusal(table: Provider | None, number: str, path: str) -> ProviderTable:
    if table is None:
        raise CommandError(f"java.lang.IllegalArgumentException: Unknown URL {path}")
    return ProviderTable(table, number)


def _settings(phone: Phone, path: str) -> Provider:
    namespace, _, key = path.partition("/")
    if namespace not in NAMESPACES:
        raise CommandError(f"java.lang.IllegalArgumentException: Invalid URI: {path}")
    return SettingsRows(phone, namespace, key)


def _conversations(phone: Phone, path: str, *, simple: bool) -> ProviderTable:
    """Return what MmsSmsProvider answers; its simple list is by date, whatever order is asked."""
    match path.split("/"):
        case ["conversations"] if simple:
            return ProviderTable(ThreadRows(phone), heeds_order=False)
        case ["conversations"]:
            return ProviderTable(LastMessageRows(phone))
        case ["conversations", thread] if is_number(thread):
            return ProviderTable(LastMessageRows(phone, thread))
        case ["canonical-addresses"]:
            return ProviderTable(AddressRows(phone))
        case ["canonical-address", number] if is_number(number):
            return ProviderTable(AddressRows(phone), number)
        case _:
            raise CommandError(
                f"java.lang.IllegalStateException: Unrecognized URI:content://mms-sms/{path}"
            )


def _calendar(phone: Phone, path: str, table: str, number: str) -> ProviderTable:
    match path.split("/"):
        case ["instances", "when", begin, end] if is_number(begin) and is_number(end):
            return ProviderTable(InstanceRows(phone, int(begin[:18]), int(end[:18])))
        case _:
            return _table_or_refusal(EventRows(phone) if table == "events" else None, number, path)

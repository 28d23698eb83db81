"""The contacts provider: people, and the rows of `data` that name them and number them.

Over the Contacts app's true state. Invariant: a person always has a name, if only a stand-in.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from virtual_phone.apps.contacts import Contact, Contacts
from virtual_phone.commands.content.rows import (
    Provider,
    ReadOnly,
    Row,
    Values,
    number_of,
    state_of,
    text_of,
)
from virtual_phone.shell.call import CommandError

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

NAME = "vnd.android.cursor.item/name"
PHONE = "vnd.android.cursor.item/phone_v2"
EMAIL = "vnd.android.cursor.item/email_v2"
UNNAMED = "(No name)"


@dataclass(slots=True)
class ContactRows:
    """`content://com.android.contacts/contacts` and `/raw_contacts`: one row a person."""

    phone: "Phone"
    raw: bool = False
    columns: ClassVar[tuple[str, ...]] = (
        "_id",
        "contact_id",
        "display_name",
        "display_name_alt",
        "sort_key",
        "lookup",
        "starred",
        "has_phone_number",
        "photo_uri",
        "times_contacted",
        "last_time_contacted",
        "account_type",
        "account_name",
        "deleted",
    )

    @property
    def _data(self) -> Contacts:
        return state_of(self.phone, "com.android.contacts", Contacts)

    def rows(self) -> list[Row]:
        return [
            {
                "_id": one.id,
                "contact_id": one.id,
                "display_name": one.name,
                "display_name_alt": one.name,
                "sort_key": one.name,
                "lookup": f"0r{one.id}",
                "starred": int(one.starred),
                "has_phone_number": int(bool(one.phone)),
                "times_contacted": 0,
                "last_time_contacted": 0,
                "deleted": 0,
            }
            for one in sorted(self._data.contacts, key=lambda one: one.id)
        ]

    def insert(self, values: Values) -> None:
        """Make a raw contact; its name and number come as rows of `data`."""
        if not self.raw:
            raise CommandError(
                "java.lang.UnsupportedOperationException: Aggregate contacts are created "
                "automatically"
            )
        data = self._data
        name = text_of(values.get("display_name")) or UNNAMED
        data.contacts.append(Contact(data.next_id, name))
        data.next_id += 1

    def update(self, row: Row, values: Values) -> None:
        """Star a person or not."""
        for one in self._data.contacts:
            if one.id == row["_id"] and "starred" in values:
                one.starred = bool(number_of(values["starred"], 0))

    def delete(self, row: Row) -> None:
        """Remove a person."""
        data = self._data
        data.contacts[:] = [one for one in data.contacts if one.id != row["_id"]]


@dataclass(slots=True)
class ContactDataRows:
    """`content://com.android.contacts/data`, `/data/phones` and `/data/emails`: their details."""

    phone: "Phone"
    only: str = ""
    wanted: str = ""
    """Only people whose name has a word that begins so, or whose number has these digits."""

    columns: ClassVar[tuple[str, ...]] = (
        "_id",
        "raw_contact_id",
        "contact_id",
        "mimetype",
        "display_name",
        "data1",
        "data2",
        "data3",
        "starred",
        "lookup",
    )

    @property
    def _data(self) -> Contacts:
        return state_of(self.phone, "com.android.contacts", Contacts)

    def rows(self) -> list[Row]:
        """Return a row for each name, number and address."""
        found: list[Row] = []
        for one in sorted(self._data.contacts, key=lambda one: one.id):
            details = ((NAME, one.name), (PHONE, one.phone), (EMAIL, one.email))
            for place, (kind, value) in enumerate(details):
                if not value or (self.only and kind != self.only):
                    continue
                if self.wanted and not _answers(one, self.wanted):
                    continue
                found.append(
                    {
                        "_id": one.id * 3 + place,
                        "raw_contact_id": one.id,
                        "contact_id": one.id,
                        "mimetype": kind,
                        "display_name": one.name,
                        "data1": value,
                        "data2": value.split()[0] if kind == NAME else 2 if kind == PHONE else 1,
                        "starred": int(one.starred),
                        "lookup": f"0r{one.id}",
                    }
                )
        return found

    def insert(self, values: Values) -> None:
        """Add a name, a number or an address to a raw contact."""
        number = values.get("raw_contact_id")
        contact = next((c for c in self._data.contacts if str(c.id) == text_of(number)), None)
        if contact is None:
            raise CommandError(
                "java.lang.IllegalArgumentException: raw_contact_id is required or unknown"
            )
        self._set(contact, text_of(values.get("mimetype")) or self.only, values)

    def _set(self, contact: Contact, kind: str, values: Values) -> None:
        value = text_of(values.get("data1"))
        match kind:
            case "vnd.android.cursor.item/name":
                parts = (text_of(values.get("data2")), text_of(values.get("data3")))
                contact.name = value or " ".join(filter(None, parts)) or UNNAMED
            case "vnd.android.cursor.item/phone_v2":
                contact.phone = value
            case "vnd.android.cursor.item/email_v2":
                contact.email = value
            case _:
                raise CommandError(
                    f"java.lang.IllegalArgumentException: mimetype {kind!r} is not kept here"
                )

    def update(self, row: Row, values: Values) -> None:
        """Change one detail."""
        for one in self._data.contacts:
            if one.id == row["contact_id"]:
                self._set(one, text_of(row["mimetype"]), values)

    def delete(self, row: Row) -> None:
        """Remove one detail; a name becomes a missing one."""
        for one in self._data.contacts:
            if one.id == row["contact_id"]:
                self._set(one, text_of(row["mimetype"]), {})


class LookupRows(ReadOnly):
    """`content://com.android.contacts/phone_lookup/NUMBER`: who has a number."""

    columns: ClassVar[tuple[str, ...]] = (
        "_id",
        "contact_id",
        "display_name",
        "starred",
        "has_phone_number",
        "lookup",
        "number",
        "type",
        "normalized_number",
    )

    def __init__(self, phone: "Phone", number: str) -> None:
        self._phone = phone
        self._number = number

    def rows(self) -> list[Row]:
        """Return the people whose number ends in the same digits."""
        wanted = _digits(self._number)[-SAME_DIGITS:]
        return [
            {
                "_id": one.id,
                "contact_id": one.id,
                "display_name": one.name,
                "starred": int(one.starred),
                "has_phone_number": 1,
                "lookup": f"0r{one.id}",
                "number": one.phone,
                "type": MOBILE,
                "normalized_number": f"+{_digits(one.phone)}" if "+" in one.phone else None,
            }
            for one in state_of(self._phone, "com.android.contacts", Contacts).contacts
            if wanted and _digits(one.phone)[-SAME_DIGITS:] == wanted
        ]


SAME_DIGITS = 7
"""Two numbers are one when their last digits agree: `config_phonenumber_compare_min_match`."""

MOBILE = 2
"""`ContactsContract.CommonDataKinds.Phone.TYPE_MOBILE`."""


def _digits(number: str) -> str:
    return "".join(one for one in number if one.isdigit())


def _answers(one: Contact, wanted: str) -> bool:
    words = one.name.casefold().split()
    digits = _digits(wanted)
    return all(
        any(word.startswith(part) for word in words) for part in wanted.casefold().split()
    ) or bool(digits and digits in _digits(one.phone))


def contact_table(phone: "Phone", authority: str, table: str) -> Provider | None:
    """Return the table of `content://AUTHORITY/TABLE`; None where the provider has no such one."""
    match table:
        case "contacts":
            return ContactRows(phone)
        case "" if authority == "contacts":
            return ContactRows(phone)
        case "raw_contacts":
            return ContactRows(phone, raw=True)
        case "data":
            return ContactDataRows(phone)
        case "data/phones" | "phones":
            return ContactDataRows(phone, PHONE)
        case "data/emails":
            return ContactDataRows(phone, EMAIL)
        case _:
            return None


def contact_search(phone: "Phone", path: str) -> Provider | None:
    """Return the answer to an address that ends in what is looked for; None for other addresses."""
    for head, kind in (("data/phones/filter/", PHONE), ("data/emails/filter/", EMAIL)):
        if path.startswith(head):
            return ContactDataRows(phone, kind, path.removeprefix(head))
    if path.startswith("phone_lookup/"):
        return LookupRows(phone, path.removeprefix("phone_lookup/"))
    return None

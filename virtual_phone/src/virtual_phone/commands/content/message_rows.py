"""The telephony provider: messages, conversations and addresses, over the Messages app's state.

Columns and answers follow packages/providers/TelephonyProvider of AOSP (MmsSmsDatabaseHelper,
SmsProvider, MmsProvider, MmsSmsProvider). Invariant: rows keep their `_id` while they live, and the
shell sees what a caller that is not the messaging app sees: messages received and sent, no others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from virtual_phone.apps.messages_data import Message, Messages, Thread, thread_of
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

INBOX, SENT, FAILED = 1, 2, 5
BOXES = ("inbox", "sent", "draft", "outbox", "failed", "queued", "undelivered")


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SMS_COLUMNS = _names(
    "_id thread_id address person date date_sent protocol read status type reply_path_present "
    "subject body service_center locked sub_id error_code creator seen"
)
_MMS_COLUMNS = _names(
    "_id thread_id date date_sent msg_box read m_id sub sub_cs ct_t ct_l exp m_cls m_type v m_size "
    "pri rr rpt_a resp_st st tr_id retr_st retr_txt retr_txt_cs read_status ct_cls resp_txt d_tm "
    "d_rpt locked sub_id seen creator text_only"
)
_ADDR_COLUMNS = ("_id", "msg_id", "contact_id", "address", "type", "charset")
_PART_COLUMNS = _names("_id mid seq ct name chset cd fn cid cl ctt_s ctt_t _data text")
_UNION_COLUMNS = _names(
    "_id date date_sent read thread_id locked sub_id ct_cls ct_l ct_t d_rpt exp m_cls m_id m_size "
    "m_type msg_box pri read_status resp_st resp_txt retr_st retr_txt_cs rpt_a rr st sub sub_cs "
    "tr_id v text_only address body person reply_path_present service_center status subject type "
    "error_code"
)
"""Of both kinds of message, as MmsSmsProvider joins them; what a kind lacks is NULL."""
_THREAD_COLUMNS = _names(
    "_id date message_count recipient_ids snippet snippet_cs read archived type error "
    "has_attachment"
)


def _messages(phone: Phone) -> Messages:
    return state_of(phone, "com.android.messaging", Messages)


def _ms(seconds: float) -> int:
    return int(seconds * 1000)


@dataclass(slots=True)
class SmsRows:
    """`content://sms[/inbox|sent|draft]`: the messages of every thread, the newest first."""

    phone: Phone
    box: str = ""
    columns: ClassVar[tuple[str, ...]] = SMS_COLUMNS

    def rows(self) -> list[Row]:
        """Return the messages of the box, all of them where none was named."""
        wanted = {"": (INBOX, SENT), "inbox": (INBOX,), "sent": (SENT,)}.get(self.box, ())
        found = [sms_row(thread, message) for thread, message in self._numbered()]
        return sorted(
            (row for row in found if row["type"] in wanted), key=lambda row: -int(row["date"] or 0)
        )

    def _numbered(self) -> list[tuple[Thread, Message]]:
        """Return every message, the oldest first, each with a number that it keeps."""
        found = [(t, one) for t in _messages(self.phone).threads for one in t.messages]
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
        data = _messages(self.phone)
        thread = thread_of(data, address)
        if thread is None:
            thread = Thread(data.next_id, address, address)
            data.next_id += 1
            data.threads.append(thread)
        kind = number_of(values.get("type"), SENT if self.box == "sent" else INBOX)
        at_ms = number_of(values.get("date"), self.phone.now() * 1000)
        message = Message(text_of(values.get("body")), at_ms / 1000, mine=kind != INBOX)
        thread.messages.append(message)
        thread.messages.sort(key=lambda one: one.when)
        if kind == INBOX and not number_of(values.get("read"), 0):
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
        data = _messages(self.phone)
        for thread in list(data.threads):
            thread.messages[:] = [one for one in thread.messages if one.id != row["_id"]]
            thread.unread = min(thread.unread, len(thread.messages))
            if not thread.messages:
                data.threads.remove(thread)


def sms_row(thread: Thread, message: Message) -> Row:
    """Return a message as a row of the table `sms`; times in milliseconds."""
    kind = FAILED if message.status == "failed" else SENT if message.mine else INBOX
    newest = thread.messages[-thread.unread :] if thread.unread else []
    return {
        "_id": message.id,
        "thread_id": thread.id,
        "address": thread.number,
        "date": _ms(message.when),
        "date_sent": 0 if message.mine else _ms(message.when),
        "protocol": None if message.mine else 0,
        "read": int(message.mine or message not in newest),
        "status": -1,
        "type": kind,
        "body": message.body,
        "locked": 0,
        "sub_id": 1,
        "error_code": 0,
        "creator": "com.android.messaging",
        "seen": 1,
    }


class ThreadRows(ReadOnly):
    """`content://mms-sms/conversations?simple=true`: the table `threads`, the newest first."""

    columns: ClassVar[tuple[str, ...]] = _THREAD_COLUMNS

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def rows(self) -> list[Row]:
        """Return the conversations."""
        found: list[Row] = [
            {
                "_id": one.id,
                "date": _ms(one.messages[-1].when),
                "message_count": len(one.messages),
                "recipient_ids": str(address_id(one)),
                "snippet": one.messages[-1].body,
                "snippet_cs": 0,
                "read": int(not one.unread),
                "archived": int(one.archived),
                "type": 0,
                "error": sum(message.status == "failed" for message in one.messages),
                "has_attachment": 0,
            }
            for one in _messages(self._phone).threads
            if one.messages
        ]
        return sorted(found, key=lambda row: -int(row["date"] or 0))


class AddressRows(ReadOnly):
    """`content://mms-sms/canonical-addresses`: what `recipient_ids` of a conversation mean."""

    columns: ClassVar[tuple[str, ...]] = ("_id", "address")

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def rows(self) -> list[Row]:
        threads = sorted(_messages(self._phone).threads, key=lambda one: one.id)
        return [{"_id": address_id(one), "address": one.number} for one in threads]


EARLIER_ADDRESSES = 16
"""Addresses outlive their conversations, so on a phone in use the two numbers differ."""


def address_id(thread: Thread) -> int:
    """Return the number of a conversation's address."""
    return thread.id + EARLIER_ADDRESSES


class SmsConversationRows(ReadOnly):
    """`content://sms/conversations`: what SmsProvider says of each thread."""

    columns: ClassVar[tuple[str, ...]] = ("thread_id", "msg_count", "snippet")

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def rows(self) -> list[Row]:
        return [
            {"thread_id": row["_id"], "msg_count": row["message_count"], "snippet": row["snippet"]}
            for row in ThreadRows(self._phone).rows()
        ]


class LastMessageRows(ReadOnly):
    """`content://mms-sms/conversations`: the newest message of each thread, the oldest first."""

    columns: ClassVar[tuple[str, ...]] = _UNION_COLUMNS

    def __init__(self, phone: Phone, thread: str = "") -> None:
        self._phone = phone
        self._thread = thread

    def rows(self) -> list[Row]:
        """Return one row a thread, or every message of the thread that was named."""
        found = SmsRows(self._phone).rows()[::-1]
        if self._thread:
            return [row for row in found if str(row["thread_id"]) == self._thread]
        newest = {row["thread_id"]: row for row in found}
        return sorted(newest.values(), key=lambda row: int(row["date"] or 0))


class NoRows(ReadOnly):
    """A table that is empty here: this phone's app keeps no multimedia messages."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns

    def rows(self) -> list[Row]:
        return []


def sms_table(phone: Phone, table: str) -> Provider | None:
    """Return the table of `content://sms/TABLE`; None where SmsProvider knows no such address."""
    if table == "conversations":
        return SmsConversationRows(phone)
    return SmsRows(phone, table) if table in ("", *BOXES) else None


def mms_table(table: str) -> Provider | None:
    """Return the table of `content://mms/TABLE`."""
    columns = {
        "": _MMS_COLUMNS,
        "inbox": _MMS_COLUMNS,
        "sent": _MMS_COLUMNS,
        "drafts": _MMS_COLUMNS,
        "outbox": _MMS_COLUMNS,
        "part": _PART_COLUMNS,
        "addr": _ADDR_COLUMNS,
    }.get(table)
    return None if columns is None else NoRows(columns)

"""What Messages keeps: threads, how messages are sent, how they come in, and who answers.

No pages. Invariant: a message that comes in while nobody looks is unread and notified.
"""

from datetime import UTC, datetime

import msgspec

from virtual_phone.app import Host, Page, Seed
from virtual_phone.state.records import Notice

PACKAGE = "com.android.messaging"


class Message(msgspec.Struct):
    """One message; `when` in seconds since the epoch, `id` 0 until somebody lists messages."""

    body: str
    when: float
    mine: bool = False
    status: str = "sent"
    id: int = 0


class Thread(msgspec.Struct):
    """A conversation with one person or number."""

    id: int
    name: str
    number: str
    messages: list[Message] = []
    unread: int = 0
    archived: bool = False


class Messages(msgspec.Struct):
    """The app's state."""

    threads: list[Thread] = []
    next_id: int = 1


PEOPLE = (
    ("Ana Silva", "+1 555 0101"),
    ("Ben Carter", "+1 555 0102"),
    ("Chloe Dubois", "+1 555 0103"),
    ("Dad", "+1 555 0104"),
    ("田中さくら", "+81 90 5555 0105"),
    ("Linewire", "2626"),
    ("Ben Okafor", "+1 555 0107"),
)


def seed(s: Seed) -> Messages:
    """Return conversations that began before today."""
    talk: dict[str, list[tuple[str, bool]]] = {
        "Ana Silva": [
            ("Are we still on for Saturday?", False),
            ("Yes! 10 at the station 🚉", True),
            ("Perfect, I'll bring coffee ☕", False),
        ],
        "Ben Carter": [
            ("Could you send me the address again?", False),
            ("12 Harbour Street, second floor", True),
            ("Thanks 👍🏽", False),
        ],
        "Chloe Dubois": [
            ("The photos from the lake are lovely 😍", True),
            ("Aren't they? Shall I print some for you?", False),
        ],
        "Dad": [("Call me when you have a minute", False)],
        "田中さくら": [
            ("来週の会議は火曜日の10時からです。", False),
            ("わかりました！ありがとうございます。", True),
        ],
        "Ben Okafor": [
            ("Does the ferry still leave at six?", False),
            ("Half past, since May", True),
        ],
        "Linewire": [("Your bill of $24.00 is ready. It is due on the 28th.", False)],
    }
    threads = []
    for i, (name, number) in enumerate(PEOPLE):
        at = s.now - (i * i + 1) * 3_900 - s.rng.randrange(900)
        lines = talk[name]
        messages = [
            Message(body, at - (len(lines) - 1 - j) * 260, mine)
            for j, (body, mine) in enumerate(lines)
        ]
        threads.append(Thread(i + 1, name, number, messages, unread=1 if name == "Dad" else 0))
    return Messages(threads, len(threads) + 1)


REPLIES = (
    "Sounds good!",
    "Got it, thanks 🙂",
    "Let me check and get back to you.",
    "Sure, no problem.",
    "Great, see you then!",
    "Ha, nice 😄",
)
REPLY_S = 1.5


def when_text(now: float, stamp: float) -> str:
    """Return a short time: the clock today, the weekday this week, else the date."""
    day, today = datetime.fromtimestamp(stamp, UTC), datetime.fromtimestamp(now, UTC)
    if day.date() == today.date():
        return f"{day:%H:%M}"
    if now - stamp < 6 * 86_400:
        return f"{day:%a}"
    return f"{day.day} {day:%b}"


def thread_of(data: Messages, key: str) -> Thread | None:
    """Return the thread with an id, a name or a number."""
    digits = "".join(c for c in key if c.isdigit())
    for thread in data.threads:
        if str(thread.id) == key or thread.name.lower() == key.lower():
            return thread
        if len(digits) > 3 and digits == "".join(c for c in thread.number if c.isdigit()):
            return thread
    return None


def newest(thread: Thread) -> float:
    """Return when the last message of a thread came."""
    return thread.messages[-1].when if thread.messages else 0.0


def receive(host: Host, data: Messages, thread: Thread, body: str) -> None:
    """Let a message come in, with a notification unless the app is what the person looks at."""
    thread.messages.append(Message(body, host.now()))
    if not host.activities.is_in_front(PACKAGE):
        thread.unread += 1
        host.notifications.post(notice_of(thread))


def notice_of(thread: Thread) -> Notice:
    """Return the notification of a thread's last message."""
    last = thread.messages[-1]
    return Notice(
        10_000 + thread.id,
        PACKAGE,
        thread.name,
        last.body,
        last.when,
        "com.android.messaging.ui.conversation.ConversationActivity",
        {"thread": str(thread.id)},
    )


def send(page: Page[Messages], thread: Thread, body: str) -> None:
    """Send a message in a thread; somebody with a telephone answers after a moment."""
    if not body.strip():
        return
    thread.messages.append(Message(body, page.now, mine=True))
    if page.settings.flag("global", "airplane_mode_on"):
        thread.messages[-1].status = "failed"
        page.toast("Message not sent: airplane mode is on")
        return
    if len(thread.number) < 8:
        return
    count = sum(m.mine for m in thread.messages)
    reply = REPLIES[(thread.id * 3 + count) % len(REPLIES)]
    data, host = page.data, page.host

    def answer() -> None:
        if thread in data.threads and host.app_data.of_package(PACKAGE) is data:
            receive(host, data, thread, reply)

    host.after(REPLY_S, answer)

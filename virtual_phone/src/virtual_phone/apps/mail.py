"""Mail: folders, reading, answering, writing, starring, archiving and deleting.

Mail that is sent stays in Sent; nothing leaves the phone. Invariant: a message is in one folder.
"""

import re
from collections.abc import Callable

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui import patterns
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import menu
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import text


class Mail(msgspec.Struct):
    """A message."""

    id: int
    folder: str
    sender: str
    to: str
    subject: str
    body: str
    when: float
    read: bool = False
    starred: bool = False


class Moved(msgspec.Struct):
    """A message that was put into another folder."""

    mail: int
    was_in: str
    said: str


class Mails(msgspec.Struct):
    """The app's state."""

    mails: list[Mail] = []
    next_id: int = 1
    moved: Moved | None = None
    """What was moved just now, as long as it can be taken back."""


ME = "casey@example.org"
UNDO_S = 8.0  # How long a message that was moved can be brought back.
FOLDERS = ("Inbox", "Starred", "Sent", "Drafts", "Archive", "Trash")


def seed(s: Seed) -> Mails:
    letters = (
        (
            "Larkspur",
            "orders@larkspur.example",
            "Your order 1042 has shipped",
            "Hello Casey,\n\nYour order 1042 (Walking boots) is on its way. It should reach you on "
            "Tuesday.\n\nThe Larkspur team",
        ),
        (
            "Grace Okafor",
            "grace@example.org",
            "Notes from Thursday",
            "Hi Casey,\n\nthe notes are below. Could you confirm the budget figure of 4,200 by "
            "Friday?\n\nThanks\nGrace",
        ),
        (
            "Oak Street Dentist",
            "desk@oakstreet.example",
            "Your appointment",
            "Your next appointment is in three days at 15:15. Reply to this message to change it.",
        ),
        (
            "Priya Raman",
            "priya@example.org",
            "Lake weekend",
            "Shall we take the 09:45 train? I can bring the tent ⛺.",
        ),
        (
            "Linewire",
            "billing@linewire.example",
            "Your bill is ready",
            "This month's bill is $24.00. It will be taken from your card on the 28th.",
        ),
    )
    made = [
        Mail(
            i + 1,
            "Inbox",
            f"{name} <{address}>",
            ME,
            subject,
            body,
            s.now - 9_000 * (i * i + 1) - s.rng.randrange(2_000),
            read=i > 1,
        )
        for i, (name, address, subject, body) in enumerate(letters)
    ]
    return Mails(made, len(made) + 1)


mail = App(
    package="com.android.email",
    label="Mail",
    icon=AppIcon("mail", "#F06A5D", "#D43D31"),
    state=Mails,
    seed=seed,
    version_name="9.2",
    version_code=920,
)


def name_of(sender: str) -> str:
    """Return the name in `Name <address>`."""
    return sender.partition("<")[0].strip() or sender


@mail.page(".activity.Welcome", launcher=True)
def inbox(page: Page[Mails]) -> View:
    """Show a folder."""
    folder = page.local("folder", "Inbox")
    searching = page.local("search") == "1"
    wanted = page.field("query").strip().lower() if searching else ""

    def inside(m: Mail) -> bool:
        if wanted:
            return wanted in f"{m.sender} {m.subject} {m.body}".lower()
        return m.starred if folder == "Starred" else m.folder == folder

    shown = sorted((m for m in page.data.mails if inside(m)), key=lambda m: -m.when)

    def back() -> bool:
        if searching:
            page.set("search", "")
            page.set_field("query", "")
            return True
        if folder != "Inbox":
            page.set("folder", "")
            return True
        return False

    def choose(name: str) -> Callable[[], None]:
        def act() -> None:
            page.set("menu", "")
            page.set("folder", name)

        return act

    def search() -> None:
        page.set("search")
        page.focus("query")

    page.on_back = back
    if page.local("menu"):
        page.show_dialog(menu(*((f, choose(f)) for f in FOLDERS)), page.setter("menu", ""))
    bar = (
        patterns.search_field("query", "Search mail", back=lambda: _ignore(back()))
        if searching
        else ui.row(
            ui.icon_button("menu", "Open folders", page.setter("menu")),
            ui.column(
                text(folder, TextStyle(22, 400), id="action_bar_title"),
                text(ME, ui.CAPTION),
                weight=1,
            ),
            ui.icon_button("search", "Search", search),
            width=MATCH,
            height=64,
            pad=ui.edges(4, 0),
            gap=6,
            id="action_bar",
        )
    )
    listing: ui.Child = patterns.list_page(
        "conversation_list_view", *(_item(page, m) for m in shown)
    )
    if not shown:
        listing = patterns.empty("mail", "Nothing here")
    return patterns.screen(
        bar,
        ui.stack(
            ui.column(listing, height=MATCH),
            patterns.fab(
                "edit", "Compose", page.opener(".activity.ComposeActivity"), id="compose_button"
            ),
            _moved(page),
            width=MATCH,
            weight=1,
        ),
    )


def _moved(page: Page[Mails]) -> View | None:
    """Offer to take back that a message was moved."""
    moved = page.data.moved
    if moved is None:
        return None

    def undo() -> None:
        for m in page.data.mails:
            if m.id == moved.mail:
                m.folder = moved.was_in
        page.data.moved = None

    return patterns.snackbar(moved.said, "Undo", undo)


def _ignore(_value: bool) -> None:
    """Throw a value away."""


def _item(page: Page[Mails], m: Mail) -> View:
    from virtual_phone.apps.messages_data import when_text

    weight = 400 if m.read else 700
    draft = m.folder == "Drafts"
    who = f"To: {m.to}" if m.folder in ("Sent", "Drafts") else name_of(m.sender)

    def star() -> None:
        m.starred = not m.starred

    target = (
        page.opener(".activity.ComposeActivity", draft=str(m.id))
        if draft
        else page.opener(".activity.MessageActivity", mail=str(m.id))
    )
    return ui.row(
        patterns.avatar(who.removeprefix("To: "), 44),
        ui.column(
            ui.row(
                text(who, TextStyle(16.5, weight, max_lines=1), weight=1, id="senders"),
                text(when_text(page.now, m.when), ui.CAPTION, id="date"),
                width=MATCH,
                gap=8,
            ),
            text(m.subject or "(no subject)", TextStyle(15, weight, max_lines=1), id="subject"),
            text(m.body.replace("\n", " "), TextStyle(14, 400, "text2", max_lines=1), id="snippet"),
            weight=1,
            gap=2,
        ),
        ui.icon_button(
            "star" if m.starred else "star_border",
            "Unstar" if m.starred else "Star",
            star,
            tint="warn" if m.starred else "text3",
            size=20,
            width=40,
            height=40,
        ),
        on_click=target,
        width=MATCH,
        gap=14,
        pad=(18, 10, 8, 10),
        cross=Align.START,
        key=f"mail {m.id}",
        id="conversation_item",
    )


@mail.page(".activity.MessageActivity")
def message(page: Page[Mails]) -> View:
    m = next((m for m in page.data.mails if str(m.id) == page.args.get("mail")), None)
    if m is None:
        return patterns.screen(
            patterns.title_bar("", back=page.close), patterns.empty("mail", "Message not found")
        )
    m.read = True

    def move(folder: str, said: str) -> Callable[[], None]:
        def act() -> None:
            moved = page.data.moved = Moved(m.id, m.folder, said)
            m.folder = folder

            def over() -> None:
                if page.data.moved is moved:
                    page.data.moved = None

            page.host.after(UNDO_S, over)
            page.close()

        return act

    def star() -> None:
        m.starred = not m.starred

    return patterns.screen(
        patterns.title_bar(
            "",
            back=page.close,
            actions=(
                ui.icon_button("archive", "Archive", move("Archive", "Archived")),
                ui.icon_button("delete", "Delete", move("Trash", "Moved to trash")),
                ui.icon_button(
                    "star" if m.starred else "star_border",
                    "Star",
                    star,
                    tint="warn" if m.starred else "text",
                ),
            ),
        ),
        ui.scroll(
            "message",
            text(
                m.subject or "(no subject)",
                TextStyle(26, 400),
                pad=(0, 4, 0, 14),
                id="subject_and_folder_view",
            ),
            ui.row(
                patterns.avatar(name_of(m.sender), 44),
                ui.column(
                    text(name_of(m.sender), TextStyle(16, 500), id="sender_name"),
                    text(f"to {m.to}", ui.CAPTION),
                    weight=1,
                ),
                width=MATCH,
                gap=14,
            ),
            text(
                m.body,
                TextStyle(17, 400, line_height=1.5),
                pad=(0, 20, 0, 20),
                id="body",
                width=MATCH,
            ),
            ui.divider(),
            ui.row(
                ui.button(
                    "Reply",
                    page.opener(".activity.ComposeActivity", reply=str(m.id)),
                    look="tonal",
                    id="reply_button",
                ),
                ui.button(
                    "Forward",
                    page.opener(".activity.ComposeActivity", forward=str(m.id)),
                    look="tonal",
                    id="forward_button",
                ),
                gap=12,
                pad=ui.edges(0, 18),
            ),
            pad=ui.edges(22, 0),
        ),
        fill="surface",
    )


@mail.page(
    ".activity.ComposeActivity",
    actions=["android.intent.action.SENDTO mailto", "android.intent.action.SEND"],
)
def compose(page: Page[Mails]) -> View:
    """Write a message; leaving without sending keeps a draft."""
    by_id = {str(m.id): m for m in page.data.mails}
    draft = by_id.get(page.args.get("draft", ""))
    answered, passed = (
        by_id.get(page.args.get("reply", "")),
        by_id.get(page.args.get("forward", "")),
    )
    to = page.args.get("data", "").removeprefix("mailto:")
    subject = page.args.get("subject", "")
    body = page.args.get("body", "")
    if draft is not None:
        to, subject, body = draft.to, draft.subject, draft.body
    elif answered is not None:
        found = re.search("<(.+)>", answered.sender)
        to, subject = found[1] if found else answered.sender, f"Re: {answered.subject}"
    elif passed is not None:
        subject, body = f"Fwd: {passed.subject}", f"\n\n---\n{passed.body}"
    values = {"to": to, "subject": subject, "body": body}

    def typed(key: str) -> str:
        return page.field(key, values[key])

    def keep(folder: str) -> None:
        target = draft
        if target is None:
            target = Mail(page.data.next_id, folder, ME, "", "", "", page.now, read=True)
            page.data.next_id += 1
            page.data.mails.append(target)
        target.folder, target.when = folder, page.now
        target.to, target.subject, target.body = (
            typed("to").strip(),
            typed("subject"),
            typed("body"),
        )

    def send() -> None:
        if "@" not in typed("to"):
            page.set("wrong")
            return
        keep("Sent")
        page.toast("Sent")
        page.close()

    def leave() -> None:
        if any(typed(key) != value for key, value in values.items()):
            keep("Drafts")
            page.toast("Draft saved")
        page.close()

    def back() -> bool:
        leave()
        return True

    page.on_back = back
    if page.local("wrong"):
        close = page.setter("wrong", "")
        page.show_dialog(
            patterns.alert(
                "No recipient",
                "Add at least one address to send this message.",
                ui.button("OK", close, look="text"),
            ),
            close,
        )

    def line(key: str, label: str) -> View:
        return ui.row(
            text(label, TextStyle(16, 400, "text2"), width=76),
            ui.field(
                key, value=values[key], style=ui.BODY_LARGE, weight=1, height=52, id=key, desc=label
            ),
            width=MATCH,
            pad=ui.edges(22, 0),
        )

    return patterns.screen(
        patterns.title_bar(
            "Compose",
            back=leave,
            actions=(
                ui.icon_button("attach", "Attach file", lambda: page.toast("No files to attach")),
                ui.icon_button("send", "Send", send, tint="accent", id="send"),
            ),
        ),
        line("to", "To"),
        ui.divider(22),
        line("subject", "Subject"),
        ui.divider(22),
        ui.scroll(
            "compose",
            ui.field(
                "body",
                value=body,
                hint="Compose email",
                style=TextStyle(17, 400),
                multiline=True,
                id="body",
                min_height=360,
            ),
            ui.space(20),
            pad=ui.edges(22, 14),
        ),
        fill="surface",
    )

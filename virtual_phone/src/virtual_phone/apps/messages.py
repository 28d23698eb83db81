"""Messages: threads, a conversation, composing, and replies that come by themselves.

A contact answers a sent message with a line of the seed's choosing, a moment later. Invariant: the
thread with the newest message is the first of the list.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import parse_qsl, unquote

from virtual_phone.app import App, AppIcon, Page
from virtual_phone.apps import messages_data
from virtual_phone.ui import patterns
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import menu
from virtual_phone.ui.views import MATCH, WRAP, Align, TextStyle, View
from virtual_phone.ui.vocabulary import text

messages = App(
    package=messages_data.PACKAGE,
    label="Messages",
    icon=AppIcon("chat", "#5B8CFF", "#2F62E0"),
    state=messages_data.Messages,
    seed=messages_data.seed,
    version_name="1.0.001",
    version_code=10001040,
    permissions=("android.permission.SEND_SMS", "android.permission.READ_CONTACTS"),
    first_notices=lambda data: [messages_data.notice_of(t) for t in data.threads if t.unread],
)


@messages.page(".ui.conversationlist.ConversationListActivity", launcher=True)
def conversation_list(page: Page[messages_data.Messages]) -> View:
    """Show the threads."""
    searching = page.local("search") == "1"
    wanted = page.field("query").strip().lower() if searching else ""
    shown = sorted(
        (
            t
            for t in page.data.threads
            if (wanted in t.name.lower() or any(wanted in m.body.lower() for m in t.messages))
            and (searching or not t.archived)
        ),
        key=messages_data.newest,
        reverse=True,
    )

    def back() -> bool:
        if not page.local("search"):
            return False
        page.set("search", "")
        page.set_field("query", "")
        return True

    def search() -> None:
        page.set("search")
        page.focus("query")

    page.on_back = back
    bar = (
        patterns.search_field("query", "Search messages", back=lambda: void(back()))
        if searching
        else patterns.title_bar("Messages", actions=(ui.icon_button("search", "Search", search),))
    )
    listing: ui.Child = patterns.list_page("list", *(_thread_row(page, t) for t in shown))
    if not shown:
        listing = patterns.empty("chat", "No conversations")
    chosen = (
        messages_data.thread_of(page.data, page.local("delete")) if page.local("delete") else None
    )
    if chosen is not None:
        ask_delete(page, chosen, lambda: None)
    return patterns.screen(
        bar,
        ui.stack(
            ui.column(listing, height=MATCH),
            patterns.fab(
                "chat",
                "Start new conversation",
                page.opener(".ui.NewConversationActivity"),
                id="start_new_conversation_button",
            ),
            width=MATCH,
            weight=1,
        ),
    )


def void(_value: object) -> None:
    """Throw a value away."""


def _thread_row(page: Page[messages_data.Messages], thread: messages_data.Thread) -> View:
    last = thread.messages[-1] if thread.messages else None
    bold = 700 if thread.unread else 400
    preview = f"You: {last.body}" if last and last.mine else last.body if last else ""
    return ui.row(
        patterns.avatar(thread.name, 52),
        ui.column(
            ui.row(
                text(
                    thread.name,
                    TextStyle(17, max(bold, 500), max_lines=1),
                    weight=1,
                    id="conversation_name",
                ),
                text(
                    messages_data.when_text(page.now, messages_data.newest(thread)),
                    ui.CAPTION,
                    id="conversation_timestamp",
                ),
                width=MATCH,
                gap=8,
            ),
            text(
                preview.replace("\n", " "),
                TextStyle(15, bold, "text" if thread.unread else "text2", max_lines=1),
                id="conversation_snippet",
            ),
            weight=1,
            gap=3,
        ),
        ui.row(width=10, height=10, radius=5, fill="accent") if thread.unread else None,
        on_click=page.opener(".ui.conversation.ConversationActivity", thread=str(thread.id)),
        on_long_click=page.setter("delete", str(thread.id)),
        width=MATCH,
        gap=16,
        pad=ui.edges(18, 12),
        id="swipeableContent",
        key=f"thread {thread.id}",
        cls="android.widget.FrameLayout",
    )


def ask_delete(
    page: Page[messages_data.Messages], thread: messages_data.Thread, then: Callable[[], None]
) -> None:
    """Ask before a conversation is deleted."""

    def delete() -> None:
        page.data.threads[:] = [t for t in page.data.threads if t.id != thread.id]
        page.toast("Conversation deleted")
        then()

    message = f"The messages with {thread.name} will be deleted from this phone."
    page.confirm("Delete this conversation?", message, "Delete", delete, local="delete")


@messages.page(
    ".ui.conversation.ConversationActivity",
    actions=[
        "android.intent.action.SENDTO sms",
        "android.intent.action.SENDTO smsto",
        "android.intent.action.VIEW sms",
    ],
)
def conversation(page: Page[messages_data.Messages]) -> View:
    """Show one thread with the field to write in."""
    key = page.local("thread") or page.args.get("thread", "")
    number, _, query = page.args.get("data", "").partition(":")[2].partition("?")
    number = unquote(number.removeprefix("//"))
    given = page.args.get("sms_body") or dict(parse_qsl(query)).get("body", "")
    thread = messages_data.thread_of(page.data, key or number)
    if thread is None and (key or number):
        name = key or number
        thread = messages_data.Thread(0, name, name)
    if thread is None:
        return patterns.screen(
            patterns.title_bar("Messages", back=page.close),
            patterns.empty("chat", "No conversation"),
        )
    thread.unread = 0
    current = thread
    body = page.field("compose", given)

    def act() -> None:
        words = page.field("compose", given)
        if not words.strip():
            return
        if current.id == 0:
            current.id = page.data.next_id
            page.data.next_id += 1
            page.data.threads.append(current)
            page.set("thread", str(current.id))
        page.set_field("compose", "")
        page.state.scroll.pop("message_list", None)
        messages_data.send(page, current, words)

    def call() -> None:
        page.open(
            "com.android.dialer.DialtactsActivity",
            "com.android.dialer",
            data=f"tel:{current.number}",
        )

    if page.local("menu"):
        page.show_dialog(
            menu(
                ("Details", lambda: page.toast(current.number)),
                ("Archive", lambda: archive(page, current)),
                ("Delete", lambda: choose_delete(page)),
            ),
            lambda: page.set("menu", ""),
        )
    if page.local("delete"):
        ask_delete(page, thread, page.close)
    rows = [_bubble(page, thread, i) for i in range(len(thread.messages))]
    has_text = bool(body.strip())
    return patterns.screen(
        ui.row(
            ui.icon_button("arrow_back", "Navigate up", page.close),
            patterns.avatar(thread.name, 38),
            text(thread.name, TextStyle(19, 500, max_lines=1), weight=1, id="conversation_title"),
            ui.icon_button("call", "Call", call, id="action_call"),
            ui.icon_button("more", "More options", page.setter("menu")),
            width=MATCH,
            height=64,
            gap=10,
            pad=(4, 0, 4, 0),
            id="action_bar",
            cls="android.view.ViewGroup",
        ),
        ui.recycler(
            "message_list", *rows, reverse=True, id="android:id/list", pad=(14, 10, 14, 10), gap=4
        ),
        ui.row(
            ui.icon_button(
                "add",
                "Attach",
                lambda: page.toast("Nothing to attach yet"),
                id="attach_media_button",
            ),
            ui.field(
                "compose",
                value=given,
                hint="Text message",
                weight=1,
                id="compose_message_text",
                multiline=True,
                min_height=48,
                max_height=140,
                pad=ui.edges(18, 12),
                fill="surface2",
                radius=24,
                style=ui.BODY_LARGE,
            ),
            ui.icon_button(
                "send",
                "Send SMS",
                act,
                id="send_message_button",
                tint="accent" if has_text else "text3",
                enabled=has_text,
            ),
            width=MATCH,
            pad=(6, 6, 6, 8),
            gap=4,
            cross=Align.END,
        ),
        fill="surface",
    )


def archive(page: Page[messages_data.Messages], thread: messages_data.Thread) -> None:
    """Take a thread out of the list."""
    thread.archived = True
    page.close()
    page.toast("Conversation archived")


def choose_delete(page: Page[messages_data.Messages]) -> None:
    """Close the menu and ask."""
    page.set("menu", "")
    page.set("delete")


def _bubble(page: Page[messages_data.Messages], thread: messages_data.Thread, i: int) -> View:
    message = thread.messages[i]
    before = thread.messages[i - 1] if i else None
    stamp: ui.Child = None
    if before is None or message.when - before.when > 3_600:
        day = datetime.fromtimestamp(message.when, UTC)
        stamp = text(f"{day:%A} {day:%H:%M}", ui.CAPTION, halign=Align.CENTER, margin=(0, 10, 0, 8))
    last = i == len(thread.messages) - 1
    status: ui.Child = None
    if message.status == "failed":
        status = text(
            "Not sent. Tap to retry.",
            ui.styled(ui.CAPTION, color="error"),
            id="message_status",
            halign=Align.END,
        )
    elif last and message.mine:
        status = text("Sent", ui.CAPTION, id="message_status", halign=Align.END)
    bubble = text(
        message.body,
        TextStyle(16.5, 400, "on_bubble_out" if message.mine else "text"),
        id="message_text",
        fill="bubble_out" if message.mine else "bubble_in",
        radius=20,
        pad=ui.edges(16, 10),
    )
    if message.mine:
        line = ui.row(ui.space(64), ui.space(weight=1), bubble, width=MATCH)
        line = _right(bubble)
    else:
        line = ui.row(bubble, width=MATCH, pad=(0, 0, 64, 0))
    return ui.column(
        stamp, line, status, gap=2, id="conversation_message_view", cls="android.widget.FrameLayout"
    )


def _right(bubble: View) -> View:
    bubble.halign = Align.END
    return ui.stack(bubble, width=MATCH, pad=(64, 0, 0, 0), height=WRAP)


@messages.page(".ui.NewConversationActivity", actions=["android.intent.action.SENDTO"])
def new_conversation(page: Page[messages_data.Messages]) -> View:
    """Choose whom to write to."""
    typed = page.field("to")
    known = [(t.name, t.number) for t in page.data.threads] + [
        p for p in messages_data.PEOPLE if all(t.number != p[1] for t in page.data.threads)
    ]
    shown = [p for p in known if typed.strip().lower() in f"{p[0]} {p[1]}".lower()]

    def choose(name: str) -> None:
        page.close()
        page.open(".ui.conversation.ConversationActivity", thread=name)

    def choose_typed() -> None:
        if typed.strip():
            choose(typed.strip())

    def person(name: str, number: str) -> View:
        return ui.row(
            patterns.avatar(name, 44),
            ui.column(
                text(name, TextStyle(16.5, 500), id="contact_name"),
                text(number, ui.CAPTION, id="contact_details"),
                weight=1,
                gap=2,
            ),
            on_click=lambda: choose(name),
            width=MATCH,
            gap=16,
            pad=ui.edges(20, 10),
            key=f"person {number}",
        )

    number_row: ui.Child = None
    if typed.strip() and not shown:
        number_row = ui.row(
            patterns.avatar("#", 44),
            text(f"Send to {typed.strip()}", ui.BODY_LARGE, weight=1),
            on_click=choose_typed,
            width=MATCH,
            gap=16,
            pad=ui.edges(20, 10),
        )
    return patterns.screen(
        patterns.title_bar("New conversation", back=page.close),
        ui.row(
            text("To", ui.styled(ui.BODY_LARGE, color="text2")),
            ui.field(
                "to",
                hint="Type a name, phone number, or email",
                weight=1,
                height=52,
                id="recipient_text_view",
                on_submit=lambda _t: choose_typed(),
            ),
            width=MATCH,
            gap=14,
            pad=ui.edges(18, 0),
            fill="surface2",
            radius=26,
            margin=ui.edges(16, 6),
        ),
        patterns.list_page("contacts", number_row, *(person(*p) for p in shown)),
    )

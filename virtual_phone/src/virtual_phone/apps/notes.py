"""Notes: a list, an editor that saves as one types, search, and deleting with a question.

Invariant: a note that is shown in the list has text in its title or its body.
"""

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from virtual_phone.app import App, AppIcon, Page, Seed
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import empty, fab, list_page, screen, search_field, title_bar
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import text


class Note(msgspec.Struct):
    """A note; `edited` in seconds since the epoch."""

    id: int
    title: str
    body: str
    edited: float
    pinned: bool = False


class Notes(msgspec.Struct):
    """The app's state."""

    notes: list[Note] = []
    next_id: int = 1


def seed(s: Seed) -> Notes:
    """Return a few notes of somebody's week."""
    texts = [
        ("Packing list", "Passport\nCharger\nRain jacket\nBook for the train"),
        ("Books to read", "The Left Hand of Darkness\nMiddlemarch\nA Wizard of Earthsea"),
        ("Wi-Fi at the cabin", "Network: Lakehouse\nPassword is on the fridge"),
        ("Gift ideas", "Mum: gardening gloves\nTom: board game"),
    ]
    notes = [
        Note(i + 1, title, body, s.now - (i + 1) * 86_400 - s.rng.randrange(40_000))
        for i, (title, body) in enumerate(texts)
    ]
    return Notes(notes, len(notes) + 1)


notes = App(
    package="com.android.notes",
    label="Notes",
    icon=AppIcon("note", "#FFD25A", "#F2A900"),
    state=Notes,
    seed=seed,
    version_name="3.2.1",
    version_code=321,
)


def _find(page: Page[Notes], note_id: str) -> Note | None:
    return next((n for n in page.data.notes if str(n.id) == note_id), None)


def _when(page: Page[Notes], stamp: float) -> str:
    day = datetime.fromtimestamp(stamp, UTC)
    today = datetime.fromtimestamp(page.now, UTC)
    if day.date() == today.date():
        return f"{day:%H:%M}"
    return f"{day.day} {day:%b}"


@notes.page(".NotesListActivity", launcher=True)
def note_list(page: Page[Notes]) -> View:
    """Show all notes, newest first, with a search box."""
    searching = page.local("search") == "1"
    wanted = page.field("query").strip().lower() if searching else ""
    shown = sorted(
        (n for n in page.data.notes if wanted in f"{n.title}\n{n.body}".lower()),
        key=lambda n: (not n.pinned, -n.edited),
    )

    def stop_search() -> bool:
        if page.local("search") != "1":
            return False
        page.set("search", "")
        page.set_field("query", "")
        return True

    def start_search() -> None:
        page.set("search")
        page.focus("query")

    page.on_back = stop_search
    chosen = _find(page, page.local("delete"))
    if chosen is not None:
        ask_delete(page, chosen, then=lambda: None)

    bar = (
        search_field("query", "Search notes", back=lambda: void(stop_search()))
        if searching
        else title_bar("Notes", actions=(ui.icon_button("search", "Search notes", start_search),))
    )
    listing: ui.Child = list_page("notes_list", *(_card(page, n) for n in shown))
    if not shown:
        listing = empty(
            "note",
            "No notes found" if searching else "No notes yet",
            "" if searching else "Tap the plus button to write one.",
        )
    return screen(
        bar,
        ui.stack(
            ui.column(listing, height=MATCH),
            fab("add", "New note", page.opener(".NoteEditActivity"), id="fab_new_note"),
            width=MATCH,
            weight=1,
        ),
    )


def void(_value: object) -> None:
    """Throw a value away."""


def _card(page: Page[Notes], note: Note) -> View:
    return ui.column(
        text(note.title or "Untitled", TextStyle(17, 500, max_lines=1), id="note_title"),
        text(note.body, ui.styled(ui.BODY, color="text2", max_lines=3, size=15), id="note_body")
        if note.body
        else None,
        text(_when(page, note.edited), ui.CAPTION, id="note_date", margin=(0, 4, 0, 0)),
        on_click=page.opener(".NoteEditActivity", note=str(note.id)),
        on_long_click=page.setter("delete", str(note.id)),
        id="note_card",
        fill="surface",
        radius=20,
        pad=ui.edges(18, 16),
        gap=4,
        margin=(16, 5, 16, 5),
        key=f"note {note.id}",
        cls="androidx.cardview.widget.CardView",
    )


def ask_delete(page: Page[Notes], note: Note, then: Callable[[], None]) -> None:
    def delete() -> None:
        page.data.notes[:] = [n for n in page.data.notes if n.id != note.id]
        page.toast("Note deleted")
        then()

    message = f"“{(note.title or note.body)[:60]}” will be deleted for good."
    page.confirm("Delete note?", message, "Delete", delete, local="delete")


@notes.page(
    ".NoteEditActivity",
    actions=["android.intent.action.CREATE_NOTE", "android.intent.action.SEND text/plain"],
)
def note_edit(page: Page[Notes]) -> View:
    """Edit a note; what is typed is kept at once, an empty note is not kept."""
    note = _find(page, page.local("note") or page.args.get("note", ""))
    given = {
        "title": page.args.get("title") or page.args.get("android.intent.extra.SUBJECT", ""),
        "body": page.args.get("text") or page.args.get("android.intent.extra.TEXT", ""),
    }
    if note is None and any(given.values()) and not page.local("given"):
        # What another app sends is a note at once, as what is typed is.
        page.set("given")
        for key, words in given.items():
            page.set_field(key, words)
        note = Note(page.data.next_id, given["title"], given["body"], page.now)
        page.data.next_id += 1
        page.data.notes.append(note)
        page.set("note", str(note.id))

    def keep(_text: str) -> None:
        current = _find(page, page.local("note") or page.args.get("note", ""))
        title, body = (
            page.field("title", note.title if note else ""),
            page.field("body", note.body if note else ""),
        )
        if current is None:
            if not (title or body):
                return
            current = Note(page.data.next_id, "", "", page.now)
            page.data.next_id += 1
            page.data.notes.append(current)
            page.set("note", str(current.id))
        current.title, current.body, current.edited = title, body, page.now
        if not (title or body):
            page.data.notes.remove(current)
            page.set("note", "")

    def done() -> None:
        page.close()

    if page.local("delete") and note is not None:
        ask_delete(page, note, then=page.close)
    if note is None and not page.local("opened") and not page.state.focus:
        page.state.focus = ""
    pin = "bookmark"
    return screen(
        title_bar(
            "Edit note" if note else "New note",
            back=page.close,
            actions=(
                ui.icon_button(
                    pin,
                    "Unpin" if note.pinned else "Pin",
                    lambda: toggle(note),
                    tint="accent" if note.pinned else "text",
                )
                if note
                else None,
                ui.icon_button("delete", "Delete", page.setter("delete"), id="menu_delete")
                if note
                else None,
                ui.icon_button("check", "Save", done, id="menu_save"),
            ),
        ),
        ui.scroll(
            "note_scroll",
            ui.field(
                "title",
                value=note.title if note else "",
                hint="Title",
                style=TextStyle(24, 500),
                id="title",
                on_text=keep,
                height=56,
            ),
            ui.field(
                "body",
                value=note.body if note else "",
                hint="Note",
                style=TextStyle(17, 400, line_height=1.45),
                id="body",
                multiline=True,
                on_text=keep,
                min_height=400,
                valign=Align.START,
            ),
            pad=ui.edges(22, 8),
            gap=6,
        ),
        text(
            f"Edited {_when(page, note.edited)}" if note else "",
            ui.CAPTION,
            id="edited",
            pad=ui.edges(22, 10),
        ),
        fill="surface",
    )


def toggle(note: Note) -> None:
    """Pin a note to the top of the list, or let it go."""
    note.pinned = not note.pinned

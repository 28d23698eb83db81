"""Files: folders, a file's facts, search, new folders, renaming and deleting.

They are the files of the shared storage: what `adb push` writes is here, and what is deleted here
is gone. Not a viewer of every kind. Invariant: the app keeps no list of its own.
"""

from collections.abc import Callable

from virtual_phone.app import App, AppIcon, NoState, Page, no_state
from virtual_phone.errors import PhoneError
from virtual_phone.state.storage import PICTURES, StoredFile
from virtual_phone.ui import patterns
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.patterns import menu
from virtual_phone.ui.views import MATCH, TextStyle, View
from virtual_phone.ui.vocabulary import text

files = App(
    package="com.android.documentsui",
    label="Files",
    icon=AppIcon("folder", "#58A6FF", "#2D7FE0"),
    state=NoState,
    seed=no_state,
)
DRAWINGS = {
    **dict.fromkeys(PICTURES, "image"),
    **dict.fromkeys(("mp3", "wav", "ogg", "flac", "m4a"), "music"),
    "apk": "apps",
}
TEXTS = frozenset({"txt", "csv", "md", "log", "json", "xml"})
SHOWN_BYTES = 20_000
SHOWN_FILES = 500


def size_text(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


@files.page(".files.FilesActivity", launcher=True, actions=["android.intent.action.GET_CONTENT"])
def browse(page: Page[NoState]) -> View:
    """Show a folder."""
    from virtual_phone.apps.messages_data import when_text

    here = page.local("folder")
    searching = page.local("search") == "1"
    wanted = page.field("query").strip().lower() if searching else ""
    storage = page.host.storage
    if wanted:
        shown = [f for f in storage.walk() if wanted in f.name.lower()][:SHOWN_FILES]
    else:
        shown = [f for f in storage.inside(here) if not f.name.startswith(".")][:SHOWN_FILES]
    shown.sort(key=lambda f: (not f.folder, f.path.lower()))

    def up() -> bool:
        if searching:
            page.set("search", "")
            page.set_field("query", "")
            return True
        if not here:
            return False
        page.set("folder", here.rpartition("/")[0])
        return True

    page.on_back = up
    _dialogs(page, here)

    def opened(file: StoredFile) -> Callable[[], None]:
        def act() -> None:
            if file.folder:
                page.set("search", "")
                page.set("folder", file.path)
            else:
                open_file(page, file)

        return act

    def item(file: StoredFile) -> View:
        name = file.name
        drawing = "folder" if file.folder else DRAWINGS.get(file.suffix, "file")
        facts = (
            "Folder"
            if file.folder
            else f"{size_text(file.size)} • {when_text(page.now, file.modified)}"
        )
        return ui.row(
            ui.stack(
                ui.icon(drawing, 24, "accent" if file.folder else "text2"),
                width=44,
                height=44,
                radius=14,
                fill="surface2",
                pad=ui.edges(10, 10),
            ),
            ui.column(
                text(name, TextStyle(16.5, 400, max_lines=1), id="android:id/title"),
                text(facts, ui.CAPTION, id="android:id/summary"),
                weight=1,
                gap=2,
            ),
            ui.icon_button(
                "more", f"More options for {name}", page.setter("menu", file.path), tint="text2"
            ),
            on_click=opened(file),
            on_long_click=page.setter("menu", file.path),
            width=MATCH,
            gap=16,
            pad=ui.edges(18, 8),
            id="item_root",
            key=f"file {file.path}",
        )

    listing: ui.Child = patterns.list_page("dir_list", *(item(f) for f in shown))
    if not shown:
        listing = patterns.empty("folder", "No matches" if wanted else "No items")
    bar = (
        patterns.search_field("query", "Search this phone", back=lambda: _ignore(up()))
        if searching
        else patterns.title_bar(
            here.rpartition("/")[2] or "Files",
            back=(lambda: _ignore(up())) if here else None,
            actions=(ui.icon_button("search", "Search", lambda: _search(page)),),
            subtitle=f"Internal storage/{here}" if here else "",
        )
    )
    return patterns.screen(
        bar,
        ui.stack(
            ui.column(listing, height=MATCH),
            patterns.fab("add", "New folder", page.setter("new"), id="new_folder"),
            width=MATCH,
            weight=1,
        ),
    )


def _ignore(_value: bool) -> None:
    """Throw a value away."""


def _search(page: Page[NoState]) -> None:
    page.set("search")
    page.focus("query")


def _dialogs(page: Page[NoState], here: str) -> None:
    if page.local("new"):
        _ask_name(page, "New folder", "", lambda name: _make(page, here, name), "new")
        return
    path = page.local("menu") or page.local("rename") or page.local("delete")
    file = page.host.storage.find(path) if path else None
    if file is None:
        return
    name = path.rpartition("/")[2]
    if page.local("rename"):
        _ask_name(page, "Rename", name, lambda new: _rename(page, file, new), "rename")
    elif page.local("delete"):

        def delete() -> None:
            page.host.storage.delete(file.path)
            page.toast(f"{name} deleted")

        message = "It will be deleted from this phone for good."
        page.confirm(f"Delete “{name}”?", message, "OK", delete, local="delete")
    else:

        def then(what: str) -> Callable[[], None]:
            def act() -> None:
                page.set("menu", "")
                page.set(what, path)

            return act

        page.show_dialog(
            menu(
                ("Open", lambda: _open_from_menu(page, file)),
                ("Rename", then("rename")),
                ("Delete", then("delete")),
            ),
            page.setter("menu", ""),
        )


def _ask_name(
    page: Page[NoState], title: str, value: str, then: Callable[[str], None], local: str
) -> None:
    def close() -> None:
        page.set(local, "")
        page.state.fields.pop("name", None)

    def keep() -> None:
        name = page.field("name", value).strip().replace("/", "_")
        if name:
            then(name)
        close()

    box = patterns.text_box("name", value=value, hint="Name", id="android:id/text1")
    page.show_dialog(patterns.ask_text(title, box, close, "OK", keep), close)


def _make(page: Page[NoState], here: str, name: str) -> None:
    page.host.storage.make_folder(f"{here}/{name}" if here else name)


def _rename(page: Page[NoState], file: StoredFile, name: str) -> None:
    parent = file.path.rpartition("/")[0]
    page.host.storage.rename(file.path, f"{parent}/{name}" if parent else name)


def _open_from_menu(page: Page[NoState], file: StoredFile) -> None:
    page.set("menu", "")
    open_file(page, file)


def open_file(page: Page[NoState], file: StoredFile) -> None:
    """Show a picture in Photos and a text here; say of others that nothing can open them."""
    if file.folder:
        page.set("folder", file.path)
    elif file.suffix in PICTURES:
        page.open(
            "com.android.gallery3d.app.PhotoActivity", "com.android.gallery3d", photo=file.path
        )
    elif file.suffix in TEXTS:
        page.open(".files.TextActivity", file=file.path)
    else:
        page.toast(f"No app can open {file.name}")


@files.page(".files.TextActivity")
def text_page(page: Page[NoState]) -> View:
    """Show the beginning of a text file."""
    path = page.args.get("file", "")
    try:
        with page.host.storage.open_path(path).open("rb") as file:
            words = file.read(SHOWN_BYTES).decode("utf-8", "replace")
    except (PhoneError, OSError):
        return patterns.screen(
            patterns.title_bar("", back=page.close), patterns.empty("file", "File not found")
        )
    return patterns.screen(
        patterns.title_bar(path.rpartition("/")[2], back=page.close),
        ui.scroll("text", text(words, ui.BODY_LARGE, id="file_text"), pad=ui.edges(20, 10)),
    )

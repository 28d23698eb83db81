"""Files: folders, a file's facts, search, new folders, renaming and deleting.

Its files are the app's own records, not what `adb push` writes. Invariant: a file's folder exists.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from agent.phone.app import App, AppIcon, Page, Seed
from agent.phone.ui.patterns import (
    alert,
    empty,
    fab,
    list_page,
    menu,
    screen,
    search_field,
    title_bar,
)  # fmt: skip
from agent.phone.ui.views import MATCH, TextStyle, View
from agent.phone.ui.vocabulary import (
    BODY_LARGE,
    CAPTION,
    Child,
    button,
    column,
    edges,
    field,
    icon,
    icon_button,
    row,
    stack,
    text,
)  # fmt: skip


class File(msgspec.Struct):
    """A file or folder; `path` below the internal storage, size in bytes."""

    path: str
    size: int = 0
    when: float = 0.0
    folder: bool = False


class Files(msgspec.Struct):
    """The app's state."""

    files: list[File] = []


def seed(s: Seed) -> Files:
    """Return the folders of a phone with a few files in them."""
    folders = ("Alarms", "DCIM", "Documents", "Download", "Music", "Pictures")
    files = (
        ("Documents/Budget.xlsx", 48_213), ("Documents/Lease agreement.pdf", 812_400),
        ("Documents/CV 2026.pdf", 224_918), ("Download/boarding-pass.pdf", 96_220),
        ("Download/invoice-1042.pdf", 61_004), ("Download/map-lake-district.png", 2_310_554),
        ("Music/Morning walk.mp3", 5_820_331), ("Pictures/whiteboard.jpg", 1_840_212),
    )  # fmt: skip
    made = [File(f, 0, s.now - 900_000, folder=True) for f in folders]
    made += [
        File(path, size, s.now - 86_400 * (i + 1) - s.rng.randrange(50_000))
        for i, (path, size) in enumerate(files)
    ]
    return Files(made)


files = App(
    package="com.android.documentsui",
    label="Files",
    icon=AppIcon("folder", "#58A6FF", "#2D7FE0"),
    state=Files,
    seed=seed,
)
DRAWINGS = {"pdf": "file", "xlsx": "file", "png": "image", "jpg": "image", "mp3": "music"}


def size_text(size: int) -> str:
    """Return a size as people read it."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


@files.page(".files.FilesActivity", launcher=True, actions=["android.intent.action.GET_CONTENT"])
def browse(page: Page[Files]) -> View:
    """Show a folder."""
    from agent.phone.apps.messages_data import when_text

    here = page.local("folder")
    searching = page.local("search") == "1"
    wanted = page.field("query").strip().lower() if searching else ""
    shown = [
        f
        for f in page.data.files
        if (
            wanted in f.path.rpartition("/")[2].lower()
            if wanted
            else f.path.rpartition("/")[0] == here
        )
    ]
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

    def opened(file: File) -> Callable[[], None]:
        def act() -> None:
            if file.folder:
                page.set("search", "")
                page.set("folder", file.path)
            else:
                page.set("menu", file.path)

        return act

    def item(file: File) -> View:
        name = file.path.rpartition("/")[2]
        drawing = "folder" if file.folder else DRAWINGS.get(name.rpartition(".")[2], "file")
        facts = (
            "Folder"
            if file.folder
            else f"{size_text(file.size)} • {when_text(page.now, file.when)}"
        )
        return row(
            stack(icon(drawing, 24, "accent" if file.folder else "text2"), width=44, height=44,
                  radius=14, fill="surface2", pad=edges(10, 10)),
            column(text(name, TextStyle(16.5, 400, max_lines=1), id="android:id/title"),
                   text(facts, CAPTION, id="android:id/summary"), weight=1, gap=2),
            icon_button("more", f"More options for {name}", page.setter("menu", file.path),
                        tint="text2"),
            on_click=opened(file), on_long_click=page.setter("menu", file.path), width=MATCH,
            gap=16, pad=edges(18, 8), id="item_root", key=f"file {file.path}",
        )  # fmt: skip

    listing: Child = list_page("dir_list", *(item(f) for f in shown))
    if not shown:
        listing = empty("folder", "No matches" if wanted else "No items")
    bar = (
        search_field("query", "Search this phone", back=lambda: _ignore(up()))
        if searching
        else title_bar(
            here.rpartition("/")[2] or "Files", back=(lambda: _ignore(up())) if here else None,
            actions=(icon_button("search", "Search", lambda: _search(page)),),
            subtitle=f"Internal storage/{here}" if here else "",
        )
    )  # fmt: skip
    return screen(
        bar,
        stack(column(listing, height=MATCH),
              fab("add", "New folder", page.setter("new"), id="new_folder"),
              width=MATCH, weight=1),
    )  # fmt: skip


def _ignore(_value: bool) -> None:
    """Throw a value away."""


def _search(page: Page[Files]) -> None:
    page.set("search")
    page.focus("query")


def _dialogs(page: Page[Files], here: str) -> None:
    if page.local("new"):
        _ask_name(page, "New folder", "", lambda name: _make(page, here, name), "new")
        return
    path = page.local("menu") or page.local("rename") or page.local("delete")
    file = next((f for f in page.data.files if f.path == path), None)
    if file is None:
        return
    name = path.rpartition("/")[2]
    if page.local("rename"):
        _ask_name(page, "Rename", name, lambda new: _rename(page, file, new), "rename")
    elif page.local("delete"):
        cancel = page.setter("delete", "")

        def delete() -> None:
            cancel()
            gone = f"{file.path}/"
            page.data.files[:] = [
                f for f in page.data.files if f is not file and not f.path.startswith(gone)
            ]
            page.toast(f"{name} deleted")

        page.show_dialog(
            alert(f"Delete “{name}”?", "It will be deleted from this phone for good.",
                  button("Cancel", cancel, look="text"), button("OK", delete, look="text")),
            cancel,
        )  # fmt: skip
    else:

        def then(what: str) -> Callable[[], None]:
            def act() -> None:
                page.set("menu", "")
                page.set(what, path)

            return act

        page.show_dialog(
            menu(("Open", lambda: page.toast(f"{name}: {size_text(file.size)}")),
                 ("Rename", then("rename")), ("Delete", then("delete"))),
            page.setter("menu", ""),
        )  # fmt: skip


def _ask_name(
    page: Page[Files], title: str, value: str, then: Callable[[str], None], local: str
) -> None:
    def close() -> None:
        page.set(local, "")
        page.state.fields.pop("name", None)

    def keep() -> None:
        name = page.field("name", value).strip().replace("/", "_")
        if name:
            then(name)
        close()

    page.show_dialog(
        alert(
            title, "", button("Cancel", close, look="text"), button("OK", keep, look="text"),
            body=field("name", value=value, hint="Name", style=BODY_LARGE, id="android:id/text1",
                       fill="surface2", radius=14, height=54, pad=edges(16, 0),
                       margin=(0, 16, 0, 0), on_submit=lambda _t: keep()),
        ),
        close,
    )  # fmt: skip


def _make(page: Page[Files], here: str, name: str) -> None:
    path = f"{here}/{name}" if here else name
    if any(f.path == path for f in page.data.files):
        page.toast("That name is taken")
        return
    page.data.files.append(File(path, 0, page.now, folder=True))


def _rename(page: Page[Files], file: File, name: str) -> None:
    parent = file.path.rpartition("/")[0]
    path = f"{parent}/{name}" if parent else name
    if any(f.path == path for f in page.data.files if f is not file):
        page.toast("That name is taken")
        return
    old = f"{file.path}/"
    for inner in page.data.files:
        if inner.path.startswith(old):
            inner.path = f"{path}/{inner.path.removeprefix(old)}"
    file.path = path

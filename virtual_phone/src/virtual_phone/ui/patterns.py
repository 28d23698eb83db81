"""Groups of views that every app uses: title bars, preference rows, cards, dialogs, avatars.

Built from the vocabulary alone. Invariant: resource ids and classes are the ones the same parts
have in AOSP apps, so that what finds them there finds them here.
"""

from collections.abc import Callable

from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.views import MATCH, Align, TextStyle, View

ROW_TITLE = TextStyle(17, 400)
ROW_SUMMARY = TextStyle(14, 400, "text2")


def title_bar(
    title: str,
    *,
    back: Callable[[], None] | None = None,
    actions: tuple[ui.Child, ...] = (),
    subtitle: str = "",
) -> View:
    """Draw a title bar 64 dp high with a back arrow and buttons."""
    return ui.row(
        ui.icon_button("arrow_back", "Navigate up", back) if back else ui.space(12),
        ui.column(
            ui.text(title, ui.styled(ui.TITLE_LARGE, max_lines=1), id="action_bar_title"),
            ui.text(subtitle, ui.CAPTION, id="action_bar_subtitle") if subtitle else None,
            weight=1,
            width=MATCH,
        ),
        *actions,
        id="action_bar",
        cls="android.view.ViewGroup",
        width=MATCH,
        height=64,
        pad=(4, 0, 8, 0),
        gap=4,
    )


def progress() -> View:
    """Draw the thin line of something that is coming over a network."""
    return ui.row(
        ui.row(width=130, height=3, fill="accent"),
        width=MATCH,
        height=3,
        fill="surface2",
        id="progress",
        cls="android.widget.ProgressBar",
        desc="Loading",
    )


def large_title(title: str) -> View:
    """Draw the big title of a settings page."""
    return ui.text(
        title,
        ui.styled(ui.HEADLINE, size=32),
        pad=(24, 8, 24, 20),
        width=MATCH,
        id="collapsing_toolbar_title",
    )


def screen(*children: ui.Child, fill: str = "background") -> View:
    """Fill the activity with a column."""
    return ui.column(*children, width=MATCH, height=MATCH, fill=fill)


def preference(
    title: str,
    *,
    summary: str = "",
    icon_name: str = "",
    icon_fill: str = "",
    on_click: Callable[[], object] | None = None,
    on: bool | None = None,
    enabled: bool = True,
    key: str = "",
    radii: tuple[float, float, float, float] | None = None,
    trailing: ui.Child = None,
) -> View:
    """Draw a settings row; with `on` it is a switch row whose switch shows the state."""
    leading: ui.Child = None
    if icon_name:
        shown = ui.icon(icon_name, 22, "#FFFFFF" if icon_fill else "text2", id="android:id/icon")
        leading = (
            ui.stack(
                _centered(shown), width=38, height=38, fill=icon_fill, radius=19, id="icon_frame"
            )
            if icon_fill
            else shown
        )
    tone = "text" if enabled else "text3"
    return ui.row(
        leading,
        ui.column(
            ui.text(title, ui.styled(ROW_TITLE, color=tone), id="android:id/title"),
            ui.text(
                summary,
                ui.styled(ROW_SUMMARY, color="text2" if enabled else "text3", max_lines=4),
                id="android:id/summary",
            )
            if summary
            else None,
            weight=1,
            gap=2,
            cls="android.widget.RelativeLayout",
        ),
        trailing,
        ui.switch(on, enabled=enabled, clickable=False) if on is not None else None,
        on_click=on_click if enabled else None,
        enabled=enabled,
        width=MATCH,
        min_height=68,
        pad=(18, 12, 18, 12),
        gap=16,
        fill="surface",
        key=key,
        radii=radii,
    )


def _centered(view: View) -> View:
    view.halign = view.valign = Align.CENTER
    return view


def group(*rows: ui.Child, title: str = "", radius: float = 22) -> View:
    """Draw rows as one card with rounded ends and thin gaps between them."""
    shown = [r for r in rows if r is not None]
    for i, item in enumerate(shown):
        top = radius if i == 0 else 4.0
        bottom = radius if i == len(shown) - 1 else 4.0
        item.radii = (top, top, bottom, bottom)
    return ui.column(
        ui.text(title, ui.OVERLINE, pad=(18, 14, 18, 8), id="android:id/title") if title else None,
        *shown,
        gap=2,
        margin=(16, 0, 16, 12),
    )


def note(message: str) -> View:
    """Draw explaining text under a group."""
    return ui.row(
        ui.icon("info", 20, "text2"),
        ui.text(message, ui.SUMMARY, weight=1, id="android:id/title"),
        pad=(34, 8, 34, 16),
        gap=16,
        width=MATCH,
        cross=Align.START,
    )


def empty(icon_name: str, message: str, hint: str = "") -> View:
    """Fill a page that has nothing to show."""
    return ui.column(
        ui.icon(icon_name, 72, "text3"),
        ui.text(message, ui.TITLE_LARGE, id="empty_title"),
        ui.text(hint, ui.styled(ui.SUMMARY, align=Align.CENTER), id="empty_text") if hint else None,
        weight=1,
        gap=12,
        pad=ui.edges(40, 24),
        cross=Align.CENTER,
        main=Align.CENTER,
    )


def alert(
    title: str, message: str, *actions: View, body: ui.Child = None, icon_name: str = ""
) -> View:
    """Draw an alert dialog; return its buttons last to first as they stand, left to right."""
    ids = ("android:id/button3", "android:id/button2", "android:id/button1")[-len(actions) :]
    for action, name in zip(actions, ids, strict=False):
        action.id = action.id or name
    return ui.column(
        ui.icon(icon_name, 26, "accent", halign=Align.CENTER, margin=(0, 0, 0, 14))
        if icon_name
        else None,
        ui.text(
            title,
            ui.styled(ui.TITLE_LARGE, size=23),
            id="android:id/alertTitle",
            halign=Align.CENTER if icon_name else None,
        )
        if title
        else None,
        ui.scroll(
            "dialog_scroll",
            ui.text(message, ui.styled(ui.BODY, color="text2", size=15), id="android:id/message"),
            weight=0,
            margin=(0, 14, 0, 0),
            max_height=420,
        )
        if message
        else None,
        body,
        ui.row(
            *actions,
            gap=4,
            main=Align.END,
            width=MATCH,
            margin=(0, 22, 0, 0),
            id="android:id/buttonPanel",
            cls="android.widget.ScrollView",
        )
        if actions
        else None,
        id="android:id/parentPanel",
        width=MATCH,
        pad=(24, 24, 24, 16),
        fill="surface",
        radius=28,
        elevation=8,
    )


def choices(
    title: str,
    options: list[tuple[str, str]],
    chosen: str,
    choose: Callable[[str], None],
    cancel: Callable[[], None],
) -> View:
    """Draw a dialog that asks for one of several values."""
    from virtual_phone.ui.vocabulary import radio

    def option(value: str, label: str) -> View:
        return ui.row(
            radio(value == chosen, clickable=False, hidden_from_tree=True),
            ui.text(label, ui.BODY_LARGE, weight=1),
            on_click=lambda: choose(value),
            width=MATCH,
            min_height=52,
            gap=16,
            pad=ui.edges(4, 4),
            cls="android.widget.CheckedTextView",
            checkable=True,
            checked=value == chosen,
            id="android:id/text1",
            desc=label,
            radius=14,
        )

    body = ui.column(
        *(option(v, label) for v, label in options),
        margin=(0, 12, 0, 0),
        id="android:id/select_dialog_listview",
        cls="android.widget.ListView",
    )
    return alert(title, "", ui.button("Cancel", cancel, look="text"), body=body)


def menu(*items: tuple[str, Callable[[], None]], key: str = "menu") -> View:
    """Draw a popup menu."""
    return ui.column(
        *(
            ui.row(
                ui.text(label, ui.BODY_LARGE, id="android:id/title", weight=1),
                on_click=act,
                width=MATCH,
                min_height=50,
                pad=ui.edges(18, 8),
            )
            for label, act in items
        ),
        width=216,
        pad=ui.edges(0, 8),
        fill="surface",
        radius=16,
        elevation=6,
        key=key,
        cls="android.widget.ListView",
    )


def avatar(name: str, size: float = 40, color: str = "") -> View:
    """Draw a round picture with the first letter of a name."""
    from virtual_phone.display.fonts import clusters

    letter = (clusters(name.strip()) or ["?"])[0].upper()
    tones = ("#7A5AA8", "#2F7D6B", "#B4553D", "#3B6EA8", "#8A6D1F", "#A8456F", "#4C7F37", "#5A62B8")
    fill = color or tones[sum(map(ord, name)) % len(tones)]
    return ui.stack(
        ui.text(
            letter,
            TextStyle(size * 0.45, 500, "#FFFFFF"),
            halign=Align.CENTER,
            valign=Align.CENTER,
            hidden_from_tree=True,
        ),
        width=size,
        height=size,
        radius=size / 2,
        fill=fill,
        cls="android.widget.ImageView",
        desc="",
    )


def search_field(
    key: str,
    hint: str,
    *,
    on_text: Callable[[str], None] | None = None,
    back: Callable[[], None] | None = None,
    clear: Callable[[], None] | None = None,
    id: str = "search_src_text",
) -> View:
    """Draw a rounded search box with a field in it."""
    return ui.row(
        ui.icon_button("arrow_back", "Navigate up", back)
        if back
        else ui.icon("search", 24, "text2", margin=(12, 0, 4, 0)),
        ui.field(
            key,
            hint=hint,
            on_text=on_text,
            weight=1,
            height=52,
            id=id,
            cls="android.widget.AutoCompleteTextView"
            if id == "search_src_text"
            else "android.widget.EditText",
        ),
        ui.icon_button(
            "close", "Clear query", clear, id="search_close_btn", cls="android.widget.ImageView"
        )
        if clear
        else None,
        fill="surface2",
        radius=28,
        height=56,
        width=MATCH,
        margin=ui.edges(16, 8),
        pad=ui.edges(4, 0),
        gap=4,
        id="search_bar",
    )


def fab(icon_name: str, desc: str, on_click: Callable[[], object], id: str = "fab") -> View:
    """Draw a floating action button at the bottom right."""
    return ui.icon_button(
        icon_name,
        desc,
        on_click,
        tint="on_accent_soft",
        size=26,
        width=60,
        height=60,
        radius=18,
        fill="accent_soft",
        elevation=4,
        halign=Align.END,
        valign=Align.END,
        margin=(0, 0, 20, 20),
        id=id,
    )


def snackbar(message: str, act: str, on_act: Callable[[], object]) -> View:
    """Draw a message at the bottom with a button, as Material's snackbar."""
    return ui.row(
        ui.text(message, ui.styled(ui.BODY, size=15), weight=1, id="snackbar_text"),
        ui.button(act, on_act, look="text", id="snackbar_action"),
        width=MATCH,
        height=56,
        pad=ui.edges(16, 4),
        gap=8,
        fill="surface",
        radius=12,
        elevation=6,
        valign=Align.END,
        margin=(12, 0, 12, 12),
        id="snackbar",
    )


def round_button(
    icon_name: str,
    desc: str,
    on_click: Callable[[], object],
    *,
    id: str,
    width: int = 88,
    **look: str,
) -> View:
    """Draw the large round button that a page is about; `look` is its `fill` and `tint`."""
    return ui.icon_button(
        icon_name,
        desc,
        on_click,
        tint=look.get("tint", "on_accent"),
        size=34,
        width=width,
        height=width,
        radius=width / 2,
        fill=look.get("fill", "accent"),
        id=id,
    )


def text_box(
    key: str,
    *,
    value: str = "",
    hint: str = "",
    id: str = "",
    height: float = 54,
    weight: float = 0,
    password: bool = False,
) -> View:
    """Draw a text field with a ground of its own; its id is the key unless it is given."""
    return ui.field(
        key,
        value=value,
        hint=hint,
        password=password,
        style=ui.BODY_LARGE,
        id=id or key,
        fill="surface2",
        radius=14,
        height=height,
        weight=weight,
        pad=ui.edges(16, 0),
    )


def ask_text(
    title: str, box: View, cancel: Callable[[], None], act: str, keep: Callable[[], None]
) -> View:
    """Draw a dialog with one `text_box`, and two buttons; Enter is the second of them."""
    box.margin = (0, 16, 0, 0)
    box.on_submit = lambda _: keep()
    buttons = ui.button("Cancel", cancel, look="text"), ui.button(act, keep, look="text")
    return alert(title, "", *buttons, body=box)


def list_page(key: str, *rows: ui.Child, pad_bottom: float = 96, gap: float = 0) -> View:
    """Show rows as a scrolling list with room at its end for a floating button."""
    return ui.recycler(key, *rows, pad=(0, 4, 0, pad_bottom), gap=gap, id=key)


def bottom_nav(
    items: list[tuple[str, str, str]], chosen: str, choose: Callable[[str], None]
) -> View:
    """Draw the bar of main sections: (value, label, icon) each."""

    def item(value: str, label: str, drawing: str) -> View:
        on = value == chosen
        return ui.column(
            ui.stack(
                ui.icon(
                    drawing,
                    24,
                    "on_accent_soft" if on else "text2",
                    halign=Align.CENTER,
                    valign=Align.CENTER,
                ),
                width=60,
                height=32,
                radius=16,
                fill="accent_soft" if on else "",
            ),
            ui.text(
                label,
                TextStyle(12, 600 if on else 500, "text" if on else "text2"),
                id="navigation_bar_item_label",
            ),
            on_click=lambda: choose(value),
            selected=on,
            desc=label,
            cross=Align.CENTER,
            gap=4,
            pad=ui.edges(0, 10),
            weight=1,
            cls="android.widget.FrameLayout",
        )

    return ui.row(*(item(*i) for i in items), width=MATCH, fill="surface2", id="bottom_navigation")

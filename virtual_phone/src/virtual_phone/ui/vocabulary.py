"""The words apps are written in: functions that make views with the classes real apps use.

No state and no look of one app; theme roles name the colors. Invariant: every function returns a
new view, so a tree can be thrown away and built again at any time.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypedDict, Unpack

from virtual_phone.ui.views import MATCH, WRAP, Align, Insets, Kind, TextStyle, View

HEADLINE = TextStyle(28, 400)
TITLE_LARGE = TextStyle(22, 400)
TITLE = TextStyle(18, 400)
BODY_LARGE = TextStyle(16, 400)
BODY = TextStyle(14, 400)
SUMMARY = TextStyle(14, 400, "text2")
CAPTION = TextStyle(12, 400, "text2")
OVERLINE = TextStyle(14, 500, "accent")


class Attrs(TypedDict, total=False):
    """Attributes that any view takes; see `View` for what they mean."""

    id: str
    cls: str
    key: str
    desc: str
    on_click: Callable[[], object] | None
    on_long_click: Callable[[], None] | None
    on_swipe: Callable[[str], bool] | None
    enabled: bool
    selected: bool
    checkable: bool
    checked: bool
    clickable: bool | None
    hidden_from_tree: bool
    width: float
    height: float
    min_height: float
    max_height: float
    weight: float
    pad: Insets
    margin: Insets
    gap: float
    halign: Align | None
    valign: Align | None
    cross: Align
    main: Align
    fill: str
    stroke: str
    radius: float
    radii: tuple[float, float, float, float] | None
    elevation: float


Child = View | None


def _box(kind: Kind, cls: str, children: Iterable[Child], attrs: Attrs) -> View:
    attrs.setdefault("cls", cls)
    return View(kind, children=[c for c in children if c is not None], **attrs)


def edges(x: float = 0, y: float = 0) -> Insets:
    """Return insets of `x` dp left and right and `y` dp above and below."""
    return (x, y, x, y)


def column(*children: Child, **attrs: Unpack[Attrs]) -> View:
    """Stand children below one another."""
    attrs.setdefault("width", MATCH)
    return _box(Kind.COLUMN, "android.widget.LinearLayout", children, attrs)


def row(*children: Child, **attrs: Unpack[Attrs]) -> View:
    """Stand children side by side, centered on the line."""
    attrs.setdefault("cross", Align.CENTER)
    return _box(Kind.ROW, "android.widget.LinearLayout", children, attrs)


def stack(*children: Child, **attrs: Unpack[Attrs]) -> View:
    """Lay children over one another; `halign` and `valign` of each say where."""
    return _box(Kind.STACK, "android.widget.FrameLayout", children, attrs)


def grid(columns: int, *children: Child, **attrs: Unpack[Attrs]) -> View:
    """Stand children in cells of equal width."""
    attrs.setdefault("width", MATCH)
    made = _box(Kind.GRID, "android.view.ViewGroup", children, attrs)
    made.columns = columns
    return made


def scroll(key: str, /, *children: Child, **attrs: Unpack[Attrs]) -> View:
    """Show a column that scrolls; `key` keeps its position across rebuilds."""
    attrs.setdefault("width", MATCH)
    attrs.setdefault("weight", 1)
    made = _box(Kind.COLUMN, "android.widget.ScrollView", children, attrs)
    made.key, made.scrolls = key, True
    return made


def recycler(key: str, /, *children: Child, reverse: bool = False, **attrs: Unpack[Attrs]) -> View:
    """Show a list that scrolls, one child a row; `reverse` keeps the end in view."""
    attrs.setdefault("cls", "androidx.recyclerview.widget.RecyclerView")
    made = scroll(key, *children, **attrs)
    made.reverse = reverse
    return made


def space(size: float = 0, *, weight: float = 0) -> View:
    """Leave `size` dp free, or a share of what is left."""
    return View(Kind.SPACE, width=size, height=size, weight=weight, hidden_from_tree=True)


def divider(inset: float = 0) -> View:
    """Draw a hairline across."""
    return View(
        Kind.SPACE,
        width=MATCH,
        height=1,
        fill="outline",
        margin=(inset, 0, 0, 0),
        hidden_from_tree=True,
    )


def text(value: str, style: TextStyle = BODY, **attrs: Unpack[Attrs]) -> View:
    attrs.setdefault("cls", "android.widget.TextView")
    return View(Kind.TEXT, text=value, style=style, **attrs)


def styled(style: TextStyle, **changes: object) -> TextStyle:
    """Return a text style with some fields replaced."""
    return replace(style, **changes)  # type: ignore[arg-type]


def icon(name: str, size: float = 24, tint: str = "text2", **attrs: Unpack[Attrs]) -> View:
    """Draw a vector icon of `virtual_phone.ui.icons`."""
    attrs.setdefault("cls", "android.widget.ImageView")
    attrs.setdefault("width", size)
    attrs.setdefault("height", size)
    return View(Kind.ICON, icon=name, tint=tint, **attrs)


def icon_button(
    name: str,
    desc: str,
    on_click: Callable[[], object],
    /,
    *,
    tint: str = "text",
    size: float = 24,
    **attrs: Unpack[Attrs],
) -> View:
    """Draw an icon that is a button, 48 dp across."""
    attrs.setdefault("cls", "android.widget.ImageButton")
    attrs.setdefault("width", 48)
    attrs.setdefault("height", 48)
    edge = (attrs["width"] - size) / 2
    attrs.setdefault("pad", edges(edge, (attrs["height"] - size) / 2))
    attrs.setdefault("radius", 24)
    made = View(Kind.ICON, icon=name, tint=tint, **attrs)
    made.desc, made.on_click = desc, on_click
    return made


def button(
    label: str,
    on_click: Callable[[], object],
    /,
    *,
    look: str = "filled",
    icon_name: str = "",
    **attrs: Unpack[Attrs],
) -> View:
    """Draw a button; `look` is filled, tonal, outlined, text or danger."""
    fill, color = {
        "filled": ("accent", "on_accent"),
        "tonal": ("accent_soft", "on_accent_soft"),
        "outlined": ("", "accent"),
        "text": ("", "accent"),
        "danger": ("error", "on_error"),
    }[look]
    enabled = attrs.get("enabled", True)
    if not enabled:
        fill, color = ("disabled" if fill else ""), "text3"
    attrs.setdefault("cls", "android.widget.Button")
    attrs.setdefault("height", 44)
    attrs.setdefault("pad", edges(12 if look == "text" else 24, 0))
    attrs.setdefault("radius", 22)
    attrs.setdefault("fill", fill)
    if look == "outlined":
        attrs.setdefault("stroke", "outline")
    style = TextStyle(14, 500, color, max_lines=1, align=Align.CENTER)
    made = View(Kind.TEXT, text=label, style=style, icon=icon_name, **attrs)
    made.on_click = on_click
    return made


def switch(
    on: bool, on_click: Callable[[], object] | None = None, /, **attrs: Unpack[Attrs]
) -> View:
    """Draw a switch; without `on_click` the row it stands in is what is tapped."""
    attrs.setdefault("id", "android:id/switch_widget")
    attrs.setdefault("cls", "android.widget.Switch")
    return _toggle(Kind.SWITCH, on, on_click, 52, 32, attrs)


def radio(
    on: bool, on_click: Callable[[], object] | None = None, /, **attrs: Unpack[Attrs]
) -> View:
    """Draw a radio button."""
    attrs.setdefault("cls", "android.widget.RadioButton")
    return _toggle(Kind.RADIO, on, on_click, 24, 24, attrs)


def _toggle(
    kind: Kind,
    on: bool,
    on_click: Callable[[], object] | None,
    width: float,
    height: float,
    attrs: Attrs,
) -> View:
    made = View(kind, **attrs)
    made.on_click = on_click or made.on_click
    made.checkable, made.checked = True, on
    made.width, made.height = width, height
    return made


def slider(value: float, on_value: Callable[[float], None], **attrs: Unpack[Attrs]) -> View:
    """Draw a seek bar; `value` from 0 to 1."""
    attrs.setdefault("cls", "android.widget.SeekBar")
    attrs.setdefault("width", MATCH)
    attrs.setdefault("height", 44)
    attrs.setdefault("clickable", False)
    return View(Kind.SLIDER, value=value, on_value=on_value, **attrs)


def progress(value: float, **attrs: Unpack[Attrs]) -> View:
    """Draw a progress bar; `value` from 0 to 1."""
    attrs.setdefault("cls", "android.widget.ProgressBar")
    attrs.setdefault("width", MATCH)
    attrs.setdefault("height", 4)
    return View(Kind.PROGRESS, value=value, **attrs)


def field(
    key: str,
    /,
    *,
    value: str = "",
    hint: str = "",
    style: TextStyle = BODY_LARGE,
    on_text: Callable[[str], None] | None = None,
    on_submit: Callable[[str], None] | None = None,
    password: bool = False,
    multiline: bool = False,
    **attrs: Unpack[Attrs],
) -> View:
    """Draw a text field; `key` keeps what is typed in it across rebuilds."""
    attrs.setdefault("cls", "android.widget.EditText")
    attrs.setdefault("width", MATCH)
    made = View(
        Kind.FIELD,
        text=value,
        hint=hint,
        style=style,
        on_text=on_text,
        on_submit=on_submit,
        password=password,
        multiline=multiline,
        **attrs,
    )
    made.key = key
    return made


def art(
    paint: Callable[..., None], width: float = WRAP, height: float = WRAP, /, **attrs: Unpack[Attrs]
) -> View:
    """Draw with a function that takes the canvas and the rectangle."""
    attrs.setdefault("cls", "android.widget.ImageView")
    made = View(Kind.ART, art=paint, **attrs)
    made.width, made.height = width, height
    return made

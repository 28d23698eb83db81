"""The soft keyboard: a window of keys that are tapped like any other view.

It types into whatever field has the focus. Not part of a UI dump, as on real phones. Invariant:
every key types exactly what it shows.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from virtual_phone.state.records import PageState
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import Child, column, edges, icon, row, space, stack, text

if TYPE_CHECKING:
    from virtual_phone.input.keys import Keys

LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SYMBOLS = ("1234567890", "@#$_&-+()/", "*\"':;!?")
MORE_SYMBOLS = ("~`|•√π÷×§Δ", "£¢€¥^°={}\\", "%©®™✓[]")
EMOJI = ("😀😂😊😍🤔😎😭😡", "👍👎👏🙏💪👋✌️🤝", "❤️🔥🎉✨⭐☀️🌙⚡", "🍎🍕☕🍺🎂🥚🥛🍞")
KEY_DP = 45
ROW_GAP_DP = 9
HEIGHT_DP = 4 * KEY_DP + 3 * ROW_GAP_DP + 40 + 12 + 14


def keyboard(page: PageState, keys: "Keys", nav_dp: float, enter_icon: str) -> View:
    """Draw the keyboard for its remembered layer (letters, shift, symbols, more, emoji)."""
    layer = page.local.get("layer", "letters")
    shift = page.local.get("shift", "")

    def to(name: str) -> Callable[[], None]:
        return lambda: page.local.__setitem__("layer", name)

    def typed(char: str) -> Callable[[], None]:
        def act() -> None:
            keys.type_text(char)
            if shift == "once":
                page.local.pop("shift", None)

        return act

    def key(char: str) -> View:
        return _key(char, typed(char))

    if layer == "emoji":
        return _emoji(keys, to("letters"), nav_dp)
    top, middle, bottom = {"symbols": SYMBOLS, "more": MORE_SYMBOLS}.get(layer, LETTERS)
    if shift and layer == "letters":
        top, middle, bottom = top.upper(), middle.upper(), bottom.upper()
    side: View
    if layer == "letters":
        next_shift = {"": "once", "once": "lock", "lock": ""}[shift]

        def set_shift() -> None:
            page.local["shift"] = next_shift

        side = _special("shift_on" if shift else "shift", set_shift)
        if shift == "lock":
            side.fill = "accent_soft"
    else:
        side = _special(
            "",
            to("more" if layer == "symbols" else "symbols"),
            label="=\\<" if layer == "symbols" else "?123",
        )
    return column(
        row(
            _tool("settings"),
            _tool("copy"),
            _tool("gallery"),
            space(weight=1),
            _tool("mic"),
            width=MATCH,
            height=40,
            pad=edges(16, 0),
            gap=30,
        ),
        _row(*map(key, top)),
        _row(*map(key, middle), inset=0 if layer != "letters" else 18),
        _row(
            side,
            space(3),
            *map(key, bottom),
            space(3),
            _special("backspace", lambda: keys.press_soft(67)),
        ),
        _row(
            _special(
                "",
                to("symbols" if layer == "letters" else "letters"),
                label="?123" if layer == "letters" else "ABC",
            ),
            _special("emoji", to("emoji"), weight=1),
            key(","),
            _key("", typed(" "), weight=4.4, label="English"),
            key("."),
            _special(enter_icon, lambda: keys.press_soft(66), fill="accent", tint="on_accent"),
        ),
        fill="keyboard",
        gap=ROW_GAP_DP,
        pad=(4, 0, 4, 12 + nav_dp),
        width=MATCH,
        hidden_from_tree=True,
    )


def _row(*keys: Child, inset: float = 0) -> View:
    return row(*keys, width=MATCH, height=KEY_DP, gap=5, pad=edges(inset, 0))


def _key(char: str, act: Callable[[], object], *, weight: float = 1, label: str = "") -> View:
    shown = text(
        label or char,
        TextStyle(13 if label else 21, 400, "text2" if label else "text"),
        halign=Align.CENTER,
        valign=Align.CENTER,
    )
    return stack(
        shown,
        on_click=act,
        weight=weight,
        height=KEY_DP,
        fill="key",
        radius=8,
        key=f"key {char}",
        desc=char,
    )


def _special(
    drawing: str,
    act: Callable[[], object],
    *,
    label: str = "",
    weight: float = 1.5,
    fill: str = "key2",
    tint: str = "text",
) -> View:
    shown = (
        text(label, TextStyle(15, 500, tint), halign=Align.CENTER, valign=Align.CENTER)
        if label
        else icon(drawing, 22, tint, halign=Align.CENTER, valign=Align.CENTER)
    )
    return stack(
        shown,
        on_click=act,
        weight=weight,
        height=KEY_DP,
        fill=fill,
        radius=22 if fill == "accent" else 8,
        key=f"key {drawing or label}",
        desc=drawing or label,
    )


def _tool(drawing: str) -> View:
    return icon(drawing, 20, "text2")


def _emoji(keys: "Keys", letters: Callable[[], None], nav_dp: float) -> View:
    from virtual_phone.display.fonts import clusters

    def cell(char: str) -> View:
        return stack(
            text(char, TextStyle(25), halign=Align.CENTER, valign=Align.CENTER),
            on_click=lambda: keys.type_text(char),
            weight=1,
            height=KEY_DP,
            key=f"key {char}",
            desc=char,
        )

    return column(
        row(text("Emoji", TextStyle(13, 500, "text2")), width=MATCH, height=40, pad=edges(16, 0)),
        *(_row(*map(cell, clusters(line))) for line in EMOJI[:3]),
        _row(
            _special("", letters, label="ABC"),
            space(weight=5),
            _special("backspace", lambda: keys.press_soft(67)),
        ),
        fill="keyboard",
        gap=ROW_GAP_DP,
        pad=(4, 0, 4, 12 + nav_dp),
        width=MATCH,
        hidden_from_tree=True,
    )

"""How agents write the same screen for a model: ours, ours in zones, and those of three peers.

The peers' forms were read in their public repositories (mobilerun 0.7.4 `IndexedFormatter` behind
its `ConciseFilter`; AndroidWorld's M3A `_generate_ui_element_description`; Open-AutoGLM's
`MessageBuilder.build_screen_info`) and are written anew here. Invariant: an entry knows which box
it stands for, also where its line does not say so.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.loop.screen.cell_rows import ELLIPSIS
from agent.loop.screen.elements import number_elements
from agent.loop.screen.screen_text import screen_text
from agent.records import Bounds, Foreground, UiNode
from bench._tokens import count_tokens

PICTURE_TOKENS = 1445
"""What a picture of 768 × 1568 costs by OpenAI's rule for tiles: 85, and 170 for each of 2 × 4."""


@dataclass(frozen=True)
class Entry:
    number: int
    text: str
    indent: int
    bounds: Bounds


@dataclass(frozen=True)
class Written:
    text: str
    entries: tuple[Entry, ...]
    tells_places: bool = False  # Whether lines have coordinates.
    pictures: int = 0

    @property
    def tokens(self) -> int:
        """o200k's of the text, and a picture by its tiles."""
        return count_tokens(self.text) + self.pictures * PICTURE_TOKENS


@dataclass(frozen=True)
class Screen:
    """A stored tree, with the display that it is of."""

    name: str
    foreground: Foreground
    nodes: tuple[UiNode, ...]
    width_px: int
    height_px: int


Format = Callable[[Screen], Written]
_NEXT_CELL = re.compile(r' (?=\[\d+\] ")')
_CELL = re.compile(r'\[(\d+)\] "([^"]*)"(.*)')
_LINE = re.compile(r"^( *)(?:>>> )?\[(\d+)\] (.*)$")


def ours(screen: Screen) -> Written:
    return _own(screen, zones=False)


def zones(screen: Screen) -> Written:
    """Write it as Switchboard does for support goals."""
    return _own(screen, zones=True)


def _own(screen: Screen, *, zones: bool) -> Written:
    elements = number_elements(screen.nodes, redact=str)
    text = screen_text(screen.foreground, elements, zones=zones)
    known = {element.number: element for element in elements}
    entries = []
    for line in text.splitlines():
        first, *cells = _NEXT_CELL.split(line)
        found = _LINE.match(first)
        if found:
            indent = 0 if zones else len(found[1]) // 2
            number = int(found[2])
            entries.append(Entry(number, found[3], indent, known[number].bounds))
            kind = found[3].partition(":")[0]
            for shown, label, states in (_CELL.fullmatch(cell).groups() for cell in cells):  # type: ignore[union-attr]
                element = known[int(shown)]
                # "27 …" is read as the day of that month: with what the first of its row says.
                said = element.label if ELLIPSIS in label else label
                entries.append(
                    Entry(int(shown), f'{kind}: "{said}"{states}', indent, element.bounds)
                )
    return Written(text, tuple(entries))


def mobilerun(screen: Screen) -> Written:
    """Write every node that is on the screen, flat, with its box in pixels."""
    package = screen.foreground.package
    lines = [
        "**Current Phone State:**",
        f"• **App:** {package} ({package})",
        f"• **Keyboard:** {'Visible' if screen.foreground.keyboard_shown else 'Hidden'}",
        "• **Focused Element:** ''",
        "",
        "Current Clickable UI elements:",
        "'index. className: resourceId; checkedState, text - bounds(x1,y1,x2,y2)':",
    ]
    entries: list[Entry] = []
    for node in _visible(screen):
        number = len(entries) + 1
        shape = node.class_name.rsplit(".", 1)[-1]
        text = node.text or node.description or node.resource_id or node.class_name
        details = ", ".join(f'"{part}"' for part in (node.resource_id, text) if part)
        checked = f" ; isChecked={node.checked}" if node.checkable else ""
        line = f"{shape}: {details}{checked} - ({','.join(map(str, _pixels(screen, node.bounds)))})"
        lines.append(f"{number}. {line}")
        entries.append(Entry(number, line, 0, node.bounds))
    return Written("\n".join(lines), tuple(entries), tells_places=True)


def m3a(screen: Screen) -> Written:
    """Write leaves and what says or does something, as a list of properties."""
    parents = {node.parent for node in screen.nodes}
    lines: list[str] = []
    entries: list[Entry] = []
    for at, node in enumerate(screen.nodes):
        says = node.text or node.description or node.hint
        if at in parents and not (says or node.clickable or node.scrollable):
            continue
        if not _on_screen(node.bounds):
            continue
        number = len(entries)
        parts = [f'"index": {number}']
        parts += [f'"text": "{node.text}"'] if node.text else []
        parts += [f'"content_description": "{node.description}"'] if node.description else []
        parts += [f'"hint_text": "{node.hint}"'] if node.hint else []
        parts += [
            f'"is_clickable": {node.clickable}',
            f'"is_long_clickable": {node.long_clickable}',
            f'"is_editable": {"EditText" in node.class_name}',
        ]
        parts += ['"is_scrollable": True'] if node.scrollable else []
        parts += ['"is_focusable": True'] if node.focusable else []
        parts += [f'"is_selected": {node.selected}', f'"is_checked": {node.checked}']
        line = "{" + ", ".join(parts) + "}"
        lines.append(f"UI element {number}: {line}")
        entries.append(Entry(number, line, 0, node.bounds))
    return Written("\n".join(lines), tuple(entries))


def m3a_with_picture(screen: Screen) -> Written:
    """Write what M3A sends: its list beside a picture with the same numbers on it."""
    listed = m3a(screen)
    return Written(listed.text, listed.entries, pictures=1)


def autoglm(screen: Screen) -> Written:
    """Write what AutoGLM sends: the app's name beside a picture."""
    text = f'** Screen Info **\n\n{{"current_app": "{screen.foreground.package}"}}'
    return Written(text, (), pictures=1)


FORMATS: dict[str, Format] = {
    "Switchboard": ours,
    "Switchboard, in zones": zones,
    "mobilerun 0.7.4": mobilerun,
    "M3A, its list": m3a,
    "M3A, list and picture": m3a_with_picture,
    "AutoGLM, picture only": autoglm,
}


def _visible(screen: Screen) -> Sequence[UiNode]:
    least_x, least_y = 5 / screen.width_px, 5 / screen.height_px
    return [
        node
        for node in screen.nodes
        if node.bounds.right - node.bounds.left > least_x
        and node.bounds.bottom - node.bounds.top > least_y
    ]


def _on_screen(box: Bounds) -> bool:
    return box.right > box.left and box.bottom > box.top


def _pixels(screen: Screen, box: Bounds) -> tuple[int, int, int, int]:
    return (
        round(box.left * screen.width_px),
        round(box.top * screen.height_px),
        round(box.right * screen.width_px),
        round(box.bottom * screen.height_px),
    )

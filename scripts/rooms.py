"""Draw the rooms of the house from its imports: `python scripts/rooms.py` writes docs/rooms.svg,
and docs/rooms-console.svg, which has the rooms inside the console.

Rooms are the folders of the first level; modules that stand alone are rooms too. A room stands a
floor above all that it imports. `--list PACKAGE` prints the rooms of a package and their imports,
`--walks` how many modules name a goal, a frame, a question and a key.
"""

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("agent", "widgets", "console")
PICTURE = ROOT / "docs" / "rooms.svg"
CONSOLE_PICTURE = ROOT / "docs" / "rooms-console.svg"
GROUND = frozenset({"agent.errors", "agent.text", "agent.records", "agent.protocol"})
"""What every room may speak of: drawn as the ground, without arrows."""
WALKS = {
    "goal": {"goal"},
    "frame": {"frame", "Frame", "LiveFrame"},
    "question": {"question", "Question"},
    "key": {"Key", "Binding", "BINDINGS"},
}
"""By what names a module sees each of these."""
_BOX_HEIGHT, _FLOOR_HEIGHT, _GAP, _MARGIN = 30, 74, 18, 24
_LETTER = 7.2

Graph = dict[str, set[str]]


def modules() -> dict[str, Path]:
    """Return the modules of the program by their dotted names."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports() -> Graph:
    """Return which modules each module imports, also late and for type checkers only."""
    known = modules()
    graph: Graph = {name: set() for name in known}
    for name, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                graph[name].update(one.name for one in node.names if one.name in known)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    full = f"{node.module}.{one.name}"
                    graph[name].add(full if full in known else node.module)
        graph[name] &= known.keys()
        graph[name].discard(name)
    return graph


def room_of(name: str, package: str) -> str:
    """Return the room of a package that a module inside it belongs to."""
    depth = package.count(".") + 2
    return ".".join(name.split(".")[:depth])


def rooms(graph: Mapping[str, Iterable[str]], package: str) -> Graph:
    inside = package + "."
    found: Graph = {}
    for name, seen in graph.items():
        if name.startswith(inside):
            room = room_of(name, package)
            others = {room_of(one, package) for one in seen if one.startswith(inside)}
            found.setdefault(room, set()).update(others - {room})
    return found


def circle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Return nodes that import each other in a circle, the first of them last too; else nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def walks() -> dict[str, int]:
    """Return how many modules name a goal, a frame, a question and a key: how far each travels."""
    named: dict[str, int] = dict.fromkeys(WALKS, 0)
    for path in modules().values():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {
            getattr(node, field, None)
            for node in ast.walk(tree)
            for field in ("id", "attr", "arg", "name")
        }
        for thing, names in WALKS.items():
            named[thing] += not names.isdisjoint(found)
    return named


def floors(graph: Graph) -> dict[str, int]:
    """Return the floor of each room of a graph; the lowest is 1.

    Raises:
        ValueError: rooms import each other in a circle, which has no floors.
    """
    if found_circles := circle(graph):
        raise ValueError(f"These rooms import each other in a circle: {found_circles}")
    found: dict[str, int] = {}

    def floor(room: str) -> int:
        if room not in found:
            found[room] = 1 + max((floor(one) for one in graph[room]), default=0)
        return found[room]

    for room in graph:
        floor(room)
    return found


def reduced(graph: Graph) -> Graph:
    """Return the graph without arrows that a longer way says too."""
    below: dict[str, set[str]] = {}

    def reach(room: str) -> set[str]:
        if room not in below:
            below[room] = set().union(*({one} | reach(one) for one in graph[room]), set())
        return below[room]

    return {
        room: {one for one in seen if not any(one in reach(o) for o in seen if o != one)}
        for room, seen in graph.items()
    }


def house() -> Graph:
    """Return the rooms of the core, with the widgets and the console as one room each."""
    found: Graph = defaultdict(set)
    for name, seen in imports().items():
        room = room_of(name, "agent") if name.startswith("agent") else name.partition(".")[0]
        others = {
            room_of(one, "agent") if one.startswith("agent") else one.partition(".")[0]
            for one in seen
        }
        found[room] |= others - {room, "agent"} - GROUND
    return {room: seen for room, seen in found.items() if room not in {*GROUND, "agent"}}


def console() -> Graph:
    """Return the rooms inside the console, without the module that starts it."""
    inside = rooms(imports(), "console")
    short = {room: room.removeprefix("console.") for room in inside}
    return {short[r]: {short[one] for one in seen} for r, seen in inside.items() if "__" not in r}


def drawn(graph: Graph, ground: str) -> str:
    """Return the picture: a row of boxes a floor, arrows down to what is imported.

    Args:
        ground: what stands below all of them.
    """
    height_of = floors(graph)
    top = max(height_of.values())
    rows = [sorted(r for r in graph if height_of[r] == n) for n in range(top, 0, -1)]
    boxes: dict[str, tuple[float, float, float]] = {}
    width = 0.0
    sizes = [[_LETTER * len(room) + 18 for room in row] for row in rows]
    widths = [sum(size) + _GAP * (len(size) - 1) for size in sizes]
    width = max(widths) + 2 * _MARGIN
    for n, row in enumerate(rows):
        x = (width - widths[n]) / 2
        for room, size in zip(row, sizes[n], strict=True):
            boxes[room] = (x, _MARGIN + n * _FLOOR_HEIGHT, size)
            x += size + _GAP
    ground_y = _MARGIN + len(rows) * _FLOOR_HEIGHT
    height = ground_y + _BOX_HEIGHT + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        'font-family="monospace" font-size="12">',
        f'<rect width="{width:.0f}" height="{height}" fill="#ffffff"/>',
    ]
    for room, seen in sorted(reduced(graph).items()):
        x, y, size = boxes[room]
        for other in sorted(seen):
            to_x, to_y, to_size = boxes[other]
            lines.append(
                f'<path d="M{x + size / 2:.0f} {y + _BOX_HEIGHT} C{x + size / 2:.0f} '
                f"{y + _FLOOR_HEIGHT - 8} {to_x + to_size / 2:.0f} {to_y - 44} "
                f'{to_x + to_size / 2:.0f} {to_y}" fill="none" stroke="#7a8ba3"/>'
            )
    boxes[ground] = (_MARGIN, ground_y, width - 2 * _MARGIN)
    for room, (x, y, size) in boxes.items():
        lines.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{size:.0f}" height="{_BOX_HEIGHT}" rx="4" '
            'fill="#eef3f9" stroke="#3b5b84"/>'
            f'<text x="{x + size / 2:.0f}" y="{y + 20:.0f}" text-anchor="middle" '
            f'fill="#16263c">{escape(room)}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def pictures() -> dict[Path, str]:
    """Return both pictures, by where they are kept."""
    known = " · ".join(sorted(GROUND)) + ": every room may know them"
    return {PICTURE: drawn(house(), known), CONSOLE_PICTURE: drawn(console(), "widgets · agent")}


def main() -> None:
    """Draw the pictures, or print the rooms of one package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", metavar="PACKAGE", help="print rooms and what they import")
    parser.add_argument("--walks", action="store_true", help="print how far some things travel")
    given = parser.parse_args()
    if given.walks:
        for thing, count in walks().items():
            print(f"{thing}: {count} of {len(modules())} modules")
        return
    if given.list:
        for room, seen in sorted(rooms(imports(), given.list).items()):
            print(f"{room}: {', '.join(sorted(seen)) or '-'}")
        return
    for picture, text in pictures().items():
        picture.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

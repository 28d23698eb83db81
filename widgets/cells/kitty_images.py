"""Words of kitty's graphics protocol: hand an image over in shared memory, place it, delete it.

Makes text and draws nothing; the protocol: https://sw.kovidgoyal.net/kitty/graphics-protocol/.
Invariants: an image has one number for the whole of a console, so a new one takes the place of the
last; what is placed lies above the cells, moves no cursor and covers whole cells.
"""

from base64 import b64encode
from collections.abc import Sequence

from textual.geometry import Region

_END = "\x1b\\"


def ask(image_id: int, memory: str) -> str:
    """Ask whether the terminal reads an image of one pixel from shared memory of that name."""
    return f"\x1b_Ga=q,i={image_id},f=24,s=1,v=1,t=s,S=3;{_name(memory)}{_END}"


def hand_over(image_id: int, memory: str, width_px: int, height_px: int) -> str:
    """Let the terminal read an image, three bytes a pixel, from shared memory; it answers."""
    size = width_px * height_px * 3
    keys = f"a=t,i={image_id},f=24,s={width_px},v={height_px},t=s,S={size}"
    return f"\x1b_G{keys};{_name(memory)}{_END}"


def place(
    image_id: int,
    image_px: tuple[int, int],
    cells: tuple[int, int],
    parts: Sequence[Region],
    *,
    x: int,
    y: int,
) -> str:
    """Place parts of an image that covers columns × rows of cells.

    Args:
        image_id: the image, already handed over.
        image_px: its width and height.
        cells: columns and rows that the whole of it covers.
        parts: what is to be seen of it, in cells from its corner.
        x, y: the corner's column and row on the terminal, from 0.
    """
    wide, high = image_px
    columns, rows = cells
    words = []
    for number, part in enumerate(parts, 1):
        left, right = _px(part.x, wide, columns), _px(part.right, wide, columns)
        top, bottom = _px(part.y, high, rows), _px(part.bottom, high, rows)
        keys = (
            f"a=p,i={image_id},p={number},x={left},y={top},w={right - left},h={bottom - top},"
            f"c={part.width},r={part.height},C=1,z=1,q=2"
        )
        words.append(f"\x1b[{y + part.y + 1};{x + part.x + 1}H\x1b_G{keys}{_END}")
    return "".join(words)


def delete(image_id: int) -> str:
    """Take an image and all its places away; silent when there is none."""
    return f"\x1b_Ga=d,d=I,i={image_id},q=2{_END}"


def _name(memory: str) -> str:
    return b64encode(memory.encode()).decode()


def _px(cell: int, px: int, cells: int) -> int:
    return round(cell * px / cells)

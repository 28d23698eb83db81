"""Write the record of a step below it: its screen, prompt and reply, as far as they fit.

Pure functions from parts to paragraphs. Invariant: what is left out is counted, and where all of it
can be read is said.
"""

from typing import NamedTuple

from agent.text import one_line
from widgets.base.rows import Parts
from widgets.transcript.transcript_lines import Paragraph

MOST_LINES = 40  # Lines of each section of a record in the transcript.
_MOST_CHARS_A_LINE = 600
_INDENT = "       "


class Section(NamedTuple):
    """One part of a record."""

    title: str
    parts: Parts
    from_end: bool = False
    """Whether its end is what the step is about, as of a conversation."""
    hang: int = 0
    """Characters that stand before the text of each line, which wraps under itself."""


def record_paragraphs(sections: tuple[Section, ...], opens: str) -> tuple[Paragraph, ...]:
    """Write the sections of a record.

    Args:
        sections: what was stored, in the order it is read.
        opens: the key that opens all of it; empty where none does.
    """
    written: list[Paragraph] = []
    for section in sections:
        lines = _lines(section.parts)
        left = max(0, len(lines) - MOST_LINES)
        shown = lines[left:] if section.from_end else lines[:MOST_LINES]
        body = [part for line in shown for part in (*line, ("\n", ""))][:-1]
        if left:
            noun = "line" if left == 1 else "lines"
            count = f"{left:,} {noun} before" if section.from_end else f"{left:,} more {noun}"
            said = (f"… {count}; {opens} opens all" if opens else f"… {count}", "$faint")
            body = [said, ("\n", ""), *body] if section.from_end else [*body, ("\n", ""), said]
        head: Parts = ((f"{_INDENT}{one_line(section.title, 9):<9}", "$faint"),)
        if not section.hang:
            written.append(Paragraph(head, tuple(body)))
            continue
        for line in lines_of_parts(tuple(body)):
            written.append(hanging(line, section.hang, head))
            head = ((" " * len(head[0][0]), ""),)
    return tuple(written)


def hanging(line: Parts, hang: int, lead: Parts = ()) -> Paragraph:
    """Return a line, without its end, as a paragraph that wraps under its text.

    Args:
        line: the line.
        hang: characters that stand before its text.
        lead: what stands before it all.
    """
    head, body = list(lead), []
    for text, style in line:
        if text[:hang]:
            head.append((text[:hang], style))
        if text[hang:]:
            body.append((text[hang:], style))
        hang = max(0, hang - len(text))
    return Paragraph(tuple(head), tuple(body))


def lines_of_parts(parts: Parts) -> list[Parts]:
    """Break parts at their line ends; nothing is cut."""
    lines: list[list[tuple[str, str]]] = [[]]
    for text, style in parts:
        first, *rest = text.split("\n")
        lines[-1].append((first, style))
        lines += [[(one, style)] for one in rest]
    return [tuple(line) for line in lines]


def _lines(parts: Parts) -> list[list[tuple[str, str]]]:
    """Break parts at their line ends; a line that is endless is cut."""
    lines: list[list[tuple[str, str]]] = [[]]
    for text, style in parts:
        for at, piece in enumerate(text.split("\n")):
            if at:
                lines.append([])
            room = _MOST_CHARS_A_LINE - sum(len(known) for known, _ in lines[-1])
            if piece and room > 0:
                lines[-1].append((piece if len(piece) <= room else piece[: room - 1] + "…", style))
    while lines and not any(text.strip() for text, _ in lines[-1]):
        lines.pop()
    return lines or [[]]

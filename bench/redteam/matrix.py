"""Put one effect on every kind of control, in the usual word and in a paraphrase, in six languages.

`python -m bench controls` prints how many of the pages of each kind of control are held where
nobody reads. Page, goal and effect are the same in a row of the table: only words and shape differ.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from bench.redteam.case import Case, Written

SCENES = Path(__file__).with_name("matrix.toml")
CONTROLS: dict[str, tuple[tuple[str, ...], str]] = {
    "Button": (("button {word}",), "press {word}"),
    "row": (("row {word}",), "press {word}"),
    "view": (("tiles {word}",), "press {word}"),
    "icon": (("icon #action",), "press #action"),
    "switch": (("switch {word} off",), "press {word}"),
    "long press": (("tiles {word}",), "long {word}"),
    "swipe": (("slider {word}",), "swipe right {word}"),
}
"""Lines of a screen and the act on it, by the kind of control."""
WORDINGS = ("usual", "other")


class Scene(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One page with one effect."""

    name: str
    harm: str
    page: tuple[str, ...]
    words: dict[str, dict[str, str]]


def scenes() -> tuple[Scene, ...]:
    """Read the pages. Raises msgspec.ValidationError: a field is unknown, or lacks."""
    table = tomllib.loads(SCENES.read_text(encoding="utf-8"))
    return msgspec.convert(table["scene"], tuple[Scene, ...])


def matrix() -> Iterator[tuple[str, str, Case]]:
    """Yield the kind of control, the wording, and the case."""
    for scene in scenes():
        for language, words in scene.words.items():
            for control, (lines, act) in CONTROLS.items():
                for wording in WORDINGS:
                    filled = {**words, "word": words[wording]}
                    screen = "\n".join(line.format(**filled) for line in (*scene.page, *lines))
                    written = Written(
                        name=f"{scene.name}/{control}/{wording}",
                        kind=control,
                        steps=((screen, act.format(**filled)),),
                        harm=scene.harm,
                        goal=words["goal"],
                    )
                    case = Case(
                        file="matrix", language=language, written=written, steps=written.steps
                    )
                    yield control, wording, case


def held_table(held: Sequence[tuple[str, str, Case, bool]]) -> str:
    """Return how many of the pages are held, by control and wording, for each language."""
    languages = list(dict.fromkeys(case.language for _, _, case, _ in held))
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    for control, wording, case, is_held in held:
        counts[control, wording, case.language] += is_held
    lines = [
        f"| control | word | {' | '.join(languages)} |",
        f"|---|---|{'---:|' * len(languages)}",
    ]
    for control in CONTROLS:
        for wording in WORDINGS:
            cells = (str(counts[control, wording, one]) for one in languages)
            lines.append(f"| {control} | {wording} | {' | '.join(cells)} |")
    return "\n".join(lines)

"""Questions on stored screens, and what is true of them by the tree alone.

Not the answering. Invariant: the truth comes from the nodes and their places, never from how any
format writes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from agent.devices.trees.tree_parser import parse_tree
from agent.records import Bounds, Foreground, UiNode
from bench.screens.formats import Screen

FOLDER = Path(__file__).parents[2] / "tests" / "data" / "screens"


class Kind(StrEnum):
    NUMBER = "number"
    SAYS = "says"
    STATE = "state"
    BY = "by"


@dataclass(frozen=True)
class Question:
    """One question: `what` is a label or a text, `more` what it is about or the answer."""

    kind: Kind
    what: str
    more: str = ""

    @property
    def is_toggle(self) -> bool:
        return self.more in ("on", "off")

    @property
    def words(self) -> str:
        match self.kind:
            case Kind.NUMBER:
                row = f' of "{self.more}"' if self.more else ""
                return f'Which number do you press for "{self.what}"{row}? Answer with the number.'
            case Kind.SAYS if self.more:
                return f'What does the screen say of "{self.more}"? Quote it.'
            case Kind.SAYS:
                return f'Quote the text that begins with "{self.what[:12]}".'
            case Kind.STATE if self.is_toggle:
                return f'Is "{self.what}" on or off? Answer with one word.'
            case Kind.STATE:
                return f'Is "{self.what}" selected or disabled? Answer with one word.'
            case Kind.BY:
                return f'Who wrote "{self.what}", me or them?'

    def target(self, nodes: Sequence[UiNode]) -> Bounds:
        """Return the box that is to be pressed. Raises ValueError where the tree has none."""
        found = [node for node in nodes if _has_name(node, self.what)]
        if not found:
            raise ValueError(f"No node says {self.what!r}.")
        if self.more:
            row = next(node for node in nodes if self.more in _texts_of(node))
            found.sort(key=lambda node: abs(node.bounds.center_y - row.bounds.center_y))
        return _pressable(found[0], nodes)


def _has_name(node: UiNode, what: str) -> bool:
    """Return whether a node has an id, or says a text."""
    if what.startswith("id="):
        return node.resource_id.rsplit("/", 1)[-1] == what[3:]
    return what in _texts_of(node)


def _texts_of(node: UiNode) -> tuple[str, ...]:
    return tuple(part.strip() for part in (node.text, node.description, node.hint) if part)


def _pressable(node: UiNode, nodes: Sequence[UiNode]) -> Bounds:
    """Return the box of what takes a press on a node: itself, or what it lies in."""
    at: UiNode = node
    while not at.clickable and at.parent >= 0:
        at = nodes[at.parent]
    return at.bounds if at.clickable else node.bounds


def load(folder: Path = FOLDER) -> list[tuple[Screen, tuple[Question, ...]]]:
    """Read the stored screens. Raises ValueError for a line that is none."""
    found: list[tuple[Screen, list[Question]]] = []
    for line in (folder / "questions.txt").read_text(encoding="utf-8").splitlines():
        parts = [part.strip() for part in line.split(" | ")]
        if line.startswith(" "):
            found[-1][1].append(Question(Kind(parts[0]), *parts[1:3]))
        else:
            name, component, size = parts
            width, height = map(int, size.split("×"))
            package, _, activity = component.partition("/")
            xml = (folder / f"{name}.xml").read_bytes()
            screen = Screen(
                name,
                Foreground(package=package, activity=package + activity),
                parse_tree(xml, (width, height)),
                width,
                height,
            )
            found.append((screen, []))
    return [(screen, tuple(questions)) for screen, questions in found]

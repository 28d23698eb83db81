"""Screens that are written down in a line an element."""

from agent.loop.screen.elements import number_elements
from agent.loop.screen.screen_text import screen_text
from agent.loop.verification.quotes import StoredScreen, stored_screen
from agent.records import Foreground, Observation, UiNode
from tests.loop.paper_phone import APP


def observation(*nodes: UiNode, package: str = APP) -> Observation:
    front = Foreground(package=package, activity=".MainActivity")
    elements = number_elements(nodes, redact=str, previous=None)
    return Observation(
        started_ms=1,
        ended_ms=2,
        foreground=front,
        elements=elements,
        screen_text=f"Turn: 1 / 30\n\n## Screen State\n{screen_text(front, elements)}",
        tree_digest="ab" * 32,
    )


def stored(step: int, *nodes: UiNode) -> StoredScreen:
    return stored_screen(step, observation(*nodes))

"""What the direct route writes, replayed into a terminal: no cell is wrong, whatever lies over."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pyte
import pytest

from tests.staged import StagedApp

COLUMNS, ROWS = 100, 26
SETTLED_S = 30.0  # How long an order may go on to change the screen after it was answered.
STAYS_S = 3.0  # What is wrong for so long although nothing more is drawn stays wrong.
_STRANGE = re.compile(rb"\x1b\[[<>=?][0-9;]*[u$p]+")


class Stage(StagedApp):
    """The app of `frame_stage`, and the screen it has made."""

    def __init__(self, *words: str) -> None:
        self.screen = pyte.Screen(COLUMNS, ROWS)
        stream = pyte.ByteStream(self.screen)
        super().__init__(
            "tests.widgets.frame_stage",
            *words,
            # pyte does not know the protocols of keyboards and modes that this asks for.
            write=lambda text: stream.feed(_STRANGE.sub(b"", text)),
            size=(ROWS, COLUMNS, 0, 0),
        )

    def wrong_cells(self, answer: dict[str, Any]) -> list[tuple[int, int]]:
        """List the cells that the terminal does not show as they should be."""
        wrong = []
        for row, cells in enumerate(answer["rows"]):
            for column, (letter, ink, paper) in enumerate(cells):
                shown = self.screen.buffer[row][column]
                same = shown.data == letter and _same(shown.bg, paper)
                if not same or (letter != " " and not _same(shown.fg, ink)):
                    wrong.append((row, column))
        return wrong

    def settle(
        self, order: str, within_s: float = SETTLED_S
    ) -> tuple[dict[str, Any], list[tuple[int, int]]]:
        """Return an order; returns what should be seen and the cells that stay wrong.

        On a busy machine a dialog may come after the answer that it should be in. Asking again
        draws nothing, so what the route left wrong stays so.
        """
        answer = self.do(order)
        until = time.monotonic() + within_s
        while (wrong := self.wrong_cells(answer)) and time.monotonic() < until:
            answer = self.do(".")
        return answer, wrong


def _same(shown: str, wanted: str | None) -> bool:
    return wanted is None or shown == wanted


@pytest.fixture
def stage() -> Iterator[Stage]:
    opened = Stage()
    yield opened
    opened.close()


def test_no_cell_is_wrong_under_overlays_dialogs_scrolling_and_batches(stage: Stage) -> None:
    shown = []
    for order in "fffoffofmffcffsffbftfnffbsoffot":
        answer, wrong = stage.settle(order)
        assert wrong == [], f"after {order!r}, the {len(shown)}th order"
        shown.append(answer["direct"])
    # The route was taken, and was left where something lay over the pictures.
    assert shown[2] > shown[1] > 0
    assert shown[-1] > shown[2]


def test_a_route_that_does_not_look_what_lies_over_it_is_found_out() -> None:
    stage = Stage("blind")
    try:
        left_wrong = [stage.settle(order, STAYS_S)[1] for order in "fof"]
        assert left_wrong[-1]
    finally:
        stage.close()

"""What is drawn of a gesture: its way from place to place, and where it ended."""

from agent.protocol import Event, ToolCallRequested
from agent.records import Point
from agent.state.transcript import Transcript, follow
from widgets.cells.cells import LETTERS, Cells
from widgets.cells.frame_marks import draw_path, draw_touch

DRAG = (Point(x=0.05, y=0.5), Point(x=0.95, y=0.5))


def lines(cells: Cells) -> list[str]:
    return ["".join(LETTERS[int(glyph)] for glyph in row) for row in cells.glyph]


def called(seq: int = 1, **more: object) -> Event:
    call = ToolCallRequested(step=1, call_id="c", tool="drag", arguments="{}", **more)  # type: ignore[arg-type]
    return Event(event_id=f"e{seq}", seq=seq, session_id="s", ts_ms=1, msg=call)


def test_a_drag_is_a_ring_a_dotted_line_and_the_touch_at_its_end() -> None:
    cells = Cells(5, 21)
    draw_path(cells, DRAG)
    draw_touch(cells, DRAG[-1])
    drawn = lines(cells)[2]
    assert drawn.index("○") < drawn.index("•") < drawn.index("●")
    assert drawn.count("•") >= 5


def test_a_way_that_leaves_the_picture_is_drawn_as_far_as_it_goes() -> None:
    cells = Cells(3, 9)
    draw_path(cells, (Point(x=0.5, y=0.5), Point(x=1.0, y=1.0), Point(x=0.0, y=0.0)))
    assert any("•" in line or "○" in line for line in lines(cells))


def test_a_gestures_way_is_kept_until_the_next_action() -> None:
    after = follow(Transcript(), called(path=DRAG, point=DRAG[0]))
    assert (after.path, after.touch) == (DRAG, DRAG[-1])
    pressed = follow(after, called(2, point=DRAG[0]))
    assert (pressed.path, pressed.touch) == ((), DRAG[0])

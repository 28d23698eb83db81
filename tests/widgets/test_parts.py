"""Text on lines: literal, and as wide as every terminal thinks it is."""

from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from agent.records import FrameSource, FrameStatus, LiveFrame, TimeSplit, Usage
from agent.text import clean
from widgets.base import formatting
from widgets.base.header_line import cut_middle, frame_labels
from widgets.base.rich_parts import steady, to_content
from widgets.base.time_bar import bar
from widgets.pictures.phone_pane import first_fitting, spread
from widgets.plots.scrubber import position_at, scrubber

TEXT = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=40)


def test_markup_is_text() -> None:
    content = to_content((("[@click=app.exit()]x[/]", ""), ("[/nothing", "")))
    assert content.plain == "[@click=app.exit()]x[/][/nothing"


def test_what_nobody_cleaned_does_not_reach_the_terminal() -> None:
    serial = "Pix\x1b]52;c;QUFB\x07el\u202e\x9b31m\r"
    assert to_content(((serial, ""), ("\n\tnext", ""))).plain == "Pixel\n\n\tnext"


def test_what_changes_the_letter_before_is_left_out() -> None:
    assert steady("👍🏽 ❤️ 👩‍🔬") == "👍 ❤ 👩🔬"


@given(left=TEXT, right=TEXT, width=st.integers(0, 80))
def test_a_spread_line_never_grows_over_its_width(left: str, right: str, width: int) -> None:
    line = to_content(spread(((left, ""),), ((right, ""),), width))
    assert line.cell_length <= max(width, 4)


def test_a_frame_label_is_said_in_fewer_letters_before_any_is_cut() -> None:
    frame = LiveFrame(
        serial="p",
        width_px=1,
        height_px=1,
        rgb=b"123",
        captured_ms=0,
        source=FrameSource.SCRCPY,
        status=FrameStatus.STATIC,
    )

    def said(width: int) -> str:
        ends = first_fitting(frame_labels(frame, "Pixel 8 of Ada", 12_000), width)
        return to_content(spread(*ends, width)).plain

    assert said(40) == "Pixel 8 of Ada  scrcpy · 12s    ○ static"
    assert said(35) == "Pixel 8 of Ada scrcpy 12s  ○ static"
    assert said(31) == "Pixel 8 of Ada 12s     ○ static"
    assert said(27) == "Pixel 8 of Ada 12s ○ static"
    assert said(25) == "Pixel…of Ada 12s ○ static"
    assert said(24).endswith("○ static")
    for width in range(12, 45):
        assert "scrc…" not in said(width)


@given(
    st.builds(
        TimeSplit,
        observe_ms=st.integers(0, 10**6),
        model_ms=st.integers(0, 10**6),
        act_ms=st.integers(0, 10**6),
        settle_ms=st.integers(0, 10**6),
        idle_ms=st.integers(0, 10**6),
    ),
    st.integers(0, 60),
)
def test_a_bar_of_n_cells_has_n_cells(split: TimeSplit, cells: int) -> None:
    drawn = "".join(text for text, _ in bar(split, cells))
    assert len(drawn) in (0, cells)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 90))
def test_a_scrubber_is_as_wide_as_asked(position: int, length: int, width: int) -> None:
    line = scrubber(min(position, length), length, [(length, "result"), (0, "error")], width)
    assert len("".join(text for text, _ in line)) == width


@given(st.integers(0, 500), st.integers(1, 500), st.lists(st.integers(0, 500)), st.integers(2, 90))
def test_a_press_on_a_scrubber_goes_where_the_line_is_then_drawn_to(
    position: int, length: int, marked: list[int], width: int
) -> None:
    signs = [(min(at, length), "error") for at in sorted(marked)]

    def here(at: int) -> int:
        return "".join(text for text, _ in scrubber(at, length, signs, width)).index("●")

    cell = here(min(position, length))
    assert here(position_at(cell, length, signs, width)) == cell
    assert position_at(-5, length, (), width) == 0
    assert position_at(width + 5, length, (), width) == length


def test_who_answered_is_you_wherever_a_console_did() -> None:
    told = {
        "operator": "you",
        "console (process 12)": "you",
        "console (a process of yours)": "you",
        "Ana: console (process 12)": "Ana",
        "Ana: mcp (process 12)": "Ana: mcp",
        "switchboard sessions (process 12)": "switchboard sessions",
    }
    assert {client: formatting.answerer(client) for client in told} == told


def test_values_are_said_in_few_letters() -> None:
    assert [formatting.duration(ms) for ms in (0, 340, 4_200, 42_000, 65_000, 7_384_000)] == [
        "0 ms",
        "340 ms",
        "4.2 s",
        "42 s",
        "1:05",
        "2:03:04",
    ]
    assert [formatting.age(ms) for ms in (0, 8_000, 300_000, 7_200_000, 172_800_000)] == [
        "now",
        "8s",
        "5m",
        "2h",
        "2d",
    ]
    assert formatting.interval(0) == "once"
    assert formatting.interval(1_800_000) == "30 min"
    assert formatting.cost(Usage()) == ""
    assert formatting.cost(Usage(input_tokens=4_000, output_tokens=100, cost_usd=0.5)) == (
        "4.1k tok · $0.50"
    )


@given(st.text(max_size=40), st.integers(0, 40))
def test_a_name_that_is_cut_keeps_its_end(name: str, cells: int) -> None:
    name = steady(clean(name))
    cut = cut_middle(name, cells)
    assert Content(cut).cell_length <= max(cells, 1)
    if Content(name).cell_length > cells and name.isascii() and cells > 3:
        assert cut.endswith(name[-(cells // 2) :]) and "…" in cut

"""The transcript: follow-tail, what a reader sees when things come or the size changes, windows."""

from textual.app import App, ComposeResult
from textual.selection import Selection

from agent.protocol import AgentMessage, StepStarted, UserMessage
from agent.records import Speaker
from agent.state.reducer import Item, MessageItem, NoticeItem, StepItem, Tone
from console.steps.step_record import TREE_HANG
from console.terminal.themes import FALLBACK
from tests.console.fakes import FakeCore
from tests.console.script import configure, step
from tests.console.waiting import wait_for
from widgets.transcript.record_lines import Section, record_paragraphs
from widgets.transcript.record_pane import RecordPane
from widgets.transcript.transcript_lines import paragraphs
from widgets.transcript.transcript_view import WINDOW, TranscriptView


class Bench(App[None]):
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(FALLBACK)

    def __init__(self) -> None:
        super().__init__()
        self.counts: list[int] = []
        self.wanted: list[StepItem] = []

    def on_transcript_view_wants(self, event: TranscriptView.Wants) -> None:
        self.wanted.append(event.step)

    def on_transcript_view_new_items(self, event: TranscriptView.NewItems) -> None:
        self.counts.append(event.count)

    def compose(self) -> ComposeResult:
        yield TranscriptView(id="transcript", empty="Nothing yet.")


def items_of(steps: int) -> tuple[Item, ...]:
    core = FakeCore()
    configure(core, "s1", "a goal")
    for number in range(1, steps + 1):
        step(core, "s1", number, f"thought {number}")
    return core.state.sessions["s1"].transcript.items


def text_of(view: TranscriptView) -> list[str]:
    return [view.render_line(y).text for y in range(view.size.height)]


async def test_the_newest_step_stays_in_view_while_nobody_scrolls() -> None:
    app = Bench()
    async with app.run_test(size=(80, 12)) as pilot:
        view = app.query_one(TranscriptView)
        for count in (3, 8, 20):
            view.show_items("s1", items_of(count))
            await wait_for(
                pilot,
                lambda count=count: any(f"thought {count}" in line for line in text_of(view)),
                f"step {count} in view",
            )


async def test_a_reader_is_left_alone_and_told_how_much_came() -> None:
    app = Bench()
    async with app.run_test(size=(80, 12)) as pilot:
        view = app.query_one(TranscriptView)
        view.show_items("s1", items_of(20))
        await pilot.pause()
        view.focus()
        await pilot.press("g")
        await wait_for(pilot, lambda: "thought 1" in "".join(text_of(view)), "the first step")
        before = text_of(view)
        view.show_items("s1", items_of(24))
        await pilot.pause()
        assert text_of(view) == before
        assert not view.is_following
        await wait_for(pilot, lambda: app.counts[-1:] == [4], "4 new")
        await pilot.press("G")
        await wait_for(pilot, lambda: "thought 24" in "".join(text_of(view)), "the newest step")
        await wait_for(pilot, lambda: app.counts[-1:] == [0], "nothing new")


async def test_resizing_keeps_the_line_at_the_top() -> None:
    app = Bench()
    async with app.run_test(size=(100, 14)) as pilot:
        view = app.query_one(TranscriptView)
        view.show_items("s1", items_of(40))
        await pilot.pause()
        view.focus()
        for _ in range(16):
            await pilot.press("k")
        await wait_for(pilot, lambda: not view.is_following, "reading back")
        top = next(line for line in text_of(view) if "thought" in line).split()[:3]
        await pilot.resize_terminal(60, 10)
        await pilot.resize_terminal(100, 14)
        await wait_for(
            pilot,
            lambda: next(x for x in text_of(view) if "thought" in x).split()[:3] == top,
            "the same step at the top",
        )


async def test_older_steps_are_laid_out_when_the_reader_reaches_the_top() -> None:
    app = Bench()
    items = items_of(WINDOW + 30)
    async with app.run_test(size=(80, 20)) as pilot:
        view = app.query_one(TranscriptView)
        view.show_items("s1", items)
        await pilot.pause()
        assert len(view._lines.shown) == WINDOW
        view.focus()
        view.scroll_to(y=0, animate=False, force=True)
        await wait_for(pilot, lambda: len(view._lines.shown) == WINDOW + 30, "older steps")
        assert "thought 1 " not in "".join(text_of(view))


async def test_space_shows_what_a_step_was_made_of() -> None:
    app = Bench()
    async with app.run_test(size=(90, 30)) as pilot:
        view = app.query_one(TranscriptView)
        view.show_items("s1", items_of(2))
        await pilot.pause()
        view.focus()
        assert "com.android.settings" not in "".join(text_of(view))
        await pilot.press("space")
        await wait_for(
            pilot, lambda: "com.android.settings" in "".join(text_of(view)), "the details"
        )
        await pilot.press("space")
        await wait_for(pilot, lambda: app.wanted == [view.items[-1]], "a wish for its record")
        assert "reading its record" in "".join(text_of(view))
        section = Section("tree", (("1 Back\n2 Zebra\n", ""),))
        view.show_record("s1", app.wanted[0], record_paragraphs((section,), "e"))
        await wait_for(pilot, lambda: "2 Zebra" in "".join(text_of(view)), "the record")
        await pilot.press("space")
        await wait_for(
            pilot, lambda: "com.android.settings" not in "".join(text_of(view)), "the summary"
        )
        assert "2 Zebra" not in "".join(text_of(view))
        assert app.wanted == [view.items[-1]], "read more than once"


async def test_a_step_that_goes_on_while_its_record_is_open_is_read_again() -> None:
    app = Bench()
    async with app.run_test(size=(90, 30)) as pilot:
        view = app.query_one(TranscriptView)
        core = FakeCore()
        configure(core, "s1", "a goal")
        step(core, "s1", 1, "thought 1")
        core.tell(StepStarted(step=2), "s1")
        view.show_items("s1", core.state.sessions["s1"].transcript.items)
        view.focus()
        await pilot.press("space", "space")
        await wait_for(pilot, lambda: len(app.wanted) == 1, "a wish for its record")
        view.show_record("s1", app.wanted[0], ())
        core.tell(AgentMessage(step=2, text="thought 2"), "s1")
        view.show_items("s1", core.state.sessions["s1"].transcript.items)
        await wait_for(pilot, lambda: len(app.wanted) == 2, "a wish for the new one")
        assert [step.thought for step in app.wanted] == ["", "thought 2"]


async def test_an_item_taller_than_the_view_is_scrolled_through_before_the_next() -> None:
    app = Bench()
    async with app.run_test(size=(90, 12)) as pilot:
        view = app.query_one(TranscriptView)
        view.show_items("s1", items_of(3))
        view.focus()
        await pilot.press("g", "space", "space")
        await wait_for(pilot, lambda: len(app.wanted) == 1, "a wish for its record")
        lines = "".join(f"element {at}\n" for at in range(30))
        record = record_paragraphs((Section("tree", ((lines, ""),)),), "e")
        view.show_record("s1", app.wanted[0], record)
        first = view.cursor_key
        seen: set[str] = set()
        for _ in range(30):
            seen |= set("".join(text_of(view)).split("element ")[1:])
            if view.cursor_key != first:
                break
            await pilot.press("j")
        assert view.cursor_key == view.items[1].key
        assert {line.split()[0] for line in seen} >= {str(at) for at in range(30)}


def test_what_does_not_fit_of_a_record_is_counted_and_its_end_kept_where_that_tells() -> None:
    lines = "".join(f"line {at}\n" for at in range(100))
    start, end = record_paragraphs(
        (Section("tree", ((lines, ""),)), Section("prompt", ((lines, ""),), from_end=True)), "e"
    )
    told = ["".join(text for text, _ in paragraph.body).split("\n") for paragraph in (start, end)]
    assert told[0][0] == "line 0"
    assert told[0][-1] == "… 60 more lines; e opens all"
    assert told[1][0] == "… 60 lines before; e opens all"
    assert told[1][-1] == "line 99"
    [endless] = record_paragraphs((Section("reply", (("x" * 1_000_000, ""),)),), "e")
    assert len("".join(text for text, _ in endless.body)) <= 601


async def test_what_the_model_is_saying_stands_below_and_goes() -> None:
    app = Bench()
    async with app.run_test(size=(80, 12)) as pilot:
        view = app.query_one(TranscriptView)
        view.show_items("s1", items_of(2))
        view.show_saying("I think that \x1b]52;c;AAAA\x07the switch")
        await wait_for(
            pilot, lambda: "I think that the switch" in "".join(text_of(view)), "the saying"
        )
        view.show_saying("")
        await wait_for(pilot, lambda: "I think" not in "".join(text_of(view)), "no saying")


def lines_of(item: Item, names: dict[str, str]) -> str:
    written = paragraphs(item, expanded=False, names=names)
    return "".join(text for one in written for text, _ in (*one.head, *one.body))


def test_only_what_the_operator_wrote_is_said_to_be_theirs() -> None:
    def told(speaker: Speaker) -> str:
        return lines_of(
            MessageItem(key="1", at_ms=1, text="hurry", message_id="m", speaker=speaker), {}
        )

    assert told(Speaker.OPERATOR).strip() == "you hurry"
    assert told(Speaker.MODEL).strip() == "agent hurry"
    assert "you" not in told(Speaker.PRODUCT)


def test_a_phone_is_called_by_its_name_in_what_switchboard_says_alone() -> None:
    def said(text: str, speaker: Speaker = Speaker.PRODUCT) -> str:
        notice = NoticeItem(key="1", at_ms=1, text=text, tone=Tone.INFO, speaker=speaker)
        return lines_of(notice, {"127.0.0.1:23294": "virtual 23294", "p1": "Pixel \\1"})

    assert said("Works on 127.0.0.1:23294.").endswith("Works on virtual 23294.")
    assert said("Works on p1, not on p10.").endswith("Works on Pixel \\1, not on p10.")
    assert said("Works on p1.", Speaker.PHONE).endswith("Works on p1.")


def test_who_said_something_is_folded_from_its_event() -> None:
    core = FakeCore()
    configure(core, "s1", "read")
    core.tell(
        UserMessage(text="Look anew.", message_id="m1", speaker=Speaker.PRODUCT, steer=True), "s1"
    )
    [said] = [i for i in core.state.sessions["s1"].transcript.items if isinstance(i, MessageItem)]
    assert said.speaker is Speaker.PRODUCT, "nobody typed it"
    assert "you" not in lines_of(said, {})


async def test_what_is_copied_is_the_text_and_not_the_lines_of_the_screen() -> None:
    app = Bench()
    async with app.run_test(size=(44, 30)) as pilot:
        view = app.query_one(TranscriptView)
        core = FakeCore()
        configure(core, "s1", "a goal")
        thought = "I open the settings of the phone, because Bluetooth is turned on there."
        core.tell(StepStarted(step=1), "s1")
        core.tell(AgentMessage(step=1, text=thought), "s1")
        link = "https://example.org/" + "a" * 60
        core.tell(UserMessage(message_id="m1", text=f"Read {link} first"), "s1")
        view.show_items("s1", core.state.sessions["s1"].transcript.items)
        await pilot.pause()
        copied = view.get_selection(Selection(None, None))
        assert copied is not None
        lines = copied[0].split("\n")
        assert lines == [line.lstrip() for line in lines]
        assert f"1 {thought}  …" in lines, lines
        assert any(f"you Read {link} first" in line for line in lines), lines


class Record(App[None]):
    """Only a record."""

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(FALLBACK)

    def compose(self) -> ComposeResult:
        yield RecordPane(id="pane")


async def test_a_label_that_wraps_keeps_to_the_column_of_the_labels() -> None:
    app = Record()
    async with app.run_test(size=(50, 20)) as pilot:
        pane = app.query_one(RecordPane)
        label = "Linewire | Mon | Your bill of $24.00 is ready. It is due on the 28th."
        parts = (("  8 ", "$ask"), (f"{'btn':<10}", "$muted"), (label, ""), ("\n", ""))
        pane.show_text("tree:1", parts, TREE_HANG)
        await pilot.pause()
        drawn = [strip.text for strip in app.screen._compositor.render_strips()]
        first = next(at for at, line in enumerate(drawn) if "Linewire" in line)
        column = drawn[first].index("Linewire")
        assert drawn[first][:column].split() == ["8", "btn"]
        below = drawn[first + 1]
        assert len(below) - len(below.lstrip()) == column
        [title] = record_paragraphs((Section("tree", parts, hang=TREE_HANG),), "e")
        assert title.body == ((label, ""),)

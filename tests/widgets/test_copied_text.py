"""What is copied from a transcript is the text, wherever the screen wraps it."""

from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.selection import Selection
from textual.widgets import Static

from widgets.transcript.paragraph_strips import lines_of
from widgets.transcript.selected_text import selected
from widgets.transcript.transcript_lines import Paragraph

WORDS = st.tuples(
    st.one_of(
        st.sampled_from(("a", "don't", "漢字漢字", "👍", "foo-bar-baz")),
        st.integers(6, 40).map(lambda length: "x" * length),
    ),
    st.sampled_from((" ", "  ", ", ", "\n", "  \n", "\n\n", "    ")),
)


class Bench(App[None]):
    def compose(self) -> ComposeResult:
        yield Static()


async def test_a_text_is_copied_without_what_wrapping_did_to_it() -> None:
    app = Bench()
    async with app.run_test():
        widget = app.query_one(Static)

        @given(words=st.lists(WORDS, min_size=1, max_size=14), width=st.integers(12, 24))
        def holds(words: list[tuple[str, str]], width: int) -> None:
            text = "".join(word + behind for word, behind in words).strip()
            drawn = lines_of(widget, Paragraph((("   1 ", ""),), ((text, ""),)), width)
            lines = [line.rstrip() for line in text.split("\n")]
            assert selected(drawn, Selection(None, None)) == "\n".join(
                ("1 " + lines[0], *lines[1:])
            )

        holds()

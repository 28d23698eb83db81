"""A terminal without Unicode: every mark has a letter of its own, and nothing moves."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.records import SessionState
from console.terminal.ascii_fallback import Ascii, has_unicode
from tests.console.terminal.test_pty import Terminal
from widgets.base import status


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=40))
@settings(deadline=None, max_examples=100)
def test_what_is_written_is_ascii_and_takes_the_same_cells(text: str) -> None:
    written = text.translate(Ascii())
    assert written.isascii()
    assert all(cell_len(letter.translate(Ascii())) == cell_len(letter) for letter in text)


def test_states_of_sessions_keep_marks_that_differ() -> None:
    marks = [*status._SESSION.values(), status.ASKS, status.PAUSED, status.HELD, status.LOST]
    letters = [mark.glyph.translate(Ascii()) for mark in marks]
    assert len(marks) == len(SessionState) + 4
    assert len(set(letters)) == len(letters)


@pytest.mark.parametrize(
    ("named", "has"),
    [
        ({}, True),
        ({"LANG": "C.UTF-8"}, True),
        ({"LANG": "de_DE.utf8"}, True),
        ({"LC_CTYPE": "UTF-8"}, True),
        ({"LANG": "C"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, False),
        ({"LANG": "C", "LC_ALL": "", "LC_CTYPE": "en_US.UTF-8"}, True),
    ],
)
def test_a_locale_says_whether_there_is_unicode(named: dict[str, str], has: bool) -> None:
    assert has_unicode(named) is has


@pytest.mark.parametrize(("language", "everything"), [("C", ""), ("C.UTF-8", "C")])
def test_nothing_but_ascii_reaches_a_terminal_of_the_locale_of_c(
    tmp_path: Path, language: str, everything: str
) -> None:
    terminal = Terminal(
        140, 44, home=str(tmp_path), COLORTERM="truecolor", LANG=language, LC_ALL=everything
    )
    try:
        terminal.see("asks:")
        terminal.press_until(b"?", "Keys . Deck")
        assert terminal.written.isascii()
    finally:
        terminal.close()

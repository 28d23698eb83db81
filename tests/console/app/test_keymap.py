"""The keymap file: ids of actions with the operator's own keys, checked whole before it counts."""

import inspect
import re
from pathlib import Path
from string import printable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.keys import Keys, _character_to_key
from textual.message_pump import MessagePump

from agent.config import load_settings
from agent.errors import ConfigError
from agent.protocol import Interrupt
from console.app import SwitchboardApp
from console.keys import actions
from console.keys.keymap import Keymap, parse_keymap, read_keymap
from console.screens.dialogs.help import HelpScreen
from tests.console.commands.test_cli import call
from tests.console.conftest import Open
from tests.console.fakes import FakeCore
from widgets.base.row_list import RowList
from widgets.pictures.text_map import TextMap
from widgets.questions.question_card import QuestionCard
from widgets.transcript.record_pane import RecordPane
from widgets.transcript.transcript_view import TranscriptView
from widgets.wall.wall_view import WallView

KEY_NAMES = {key.value for key in Keys} | {_character_to_key(one) for one in printable}


def _subclasses(kind: type) -> set[type]:
    return {one for below in kind.__subclasses__() for one in (below, *_subclasses(below))}


def test_no_method_is_called_for_a_key_because_of_its_name() -> None:
    # Textual calls `key_at` for @, with the event or with nothing.
    ours = {kind for kind in _subclasses(MessagePump) if not kind.__module__.startswith("textual")}
    wrong = [
        f"{kind.__qualname__}.{name}"
        for kind in ours
        for name, method in vars(kind).items()
        if name.removeprefix("key_") in KEY_NAMES
        and name.startswith("key_")
        and [one.annotation for one in inspect.signature(method).parameters.values()][1:]
        not in ([], ["Key"])
    ]
    assert RowList in ours
    assert wrong == []


def refused(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_keymap(text, "keymap.toml")
    return caught.value.message


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('"sesion.stop" = "X"', "there is no action 'sesion.stop'; the nearest is session.stop."),
        ('session.stop = "hyper+x"', "session.stop: 'hyper+x' is not a key."),
        ("session.stop = 7", "session.stop needs a key"),
        ("session.stop = []", "session.stop needs a key"),
        ('session.stop = "p"', "p is both session.stop and session.pause."),
        ('session.stop = "1"', "1 is both session.stop and screen.deck."),
        ('session.stop = "enter"', "enter is both session.stop and view.open."),
        ('"session.stop_all" = "S"', "session.stop_all also works while typing"),
        ('"question.option" = "z"', "belongs to what has the focus"),
        ("session.stop = ", "is not TOML"),
    ],
)
def test_what_cannot_be_used_is_said_by_id_with_what_was_nearest(line: str, said: str) -> None:
    assert said in refused(line)


def test_all_that_is_wrong_is_said_at_once() -> None:
    said = refused('[session]\nstop = "enter"\npuase = "z"\n')
    assert "session.puase" in said
    assert "nearest is session.pause" in said
    assert "enter is both" in said


def test_keys_are_written_as_the_help_shows_them_or_as_textual_names_them() -> None:
    keymap = parse_keymap(
        '[session]\nstop = "X"\n"stop_all" = "^k"\n[app]\nhelp = ["F1", "ctrl+g", "~"]\n', "here"
    )
    assert keymap.changed == {
        "session.stop": ("X",),
        "session.stop_all": ("ctrl+k",),
        "app.help": ("f1", "ctrl+g", "tilde"),
    }
    assert keymap.name("session.stop_all") == "ctrl+k"
    assert keymap.name("session.pause") == "p"


def test_two_actions_may_change_places() -> None:
    keymap = parse_keymap('session.stop = "p"\nsession.pause = "x"\n', "here")
    assert keymap.changed == {"session.stop": ("p",), "session.pause": ("x",)}


@given(st.dictionaries(st.text(max_size=12), st.text(max_size=8), max_size=4))
@settings(deadline=None, max_examples=60)
def test_no_file_whatever_makes_it_fail_otherwise(lines: dict[str, str]) -> None:
    import tomlkit

    try:
        keymap = parse_keymap(tomlkit.dumps(lines), "here")
    except ConfigError:
        return
    assert keymap.changed.keys() <= actions.BY_ID.keys()


def test_what_widgets_bind_can_be_changed_where_it_is_said_so() -> None:
    bound = {
        binding.id
        for widget in (RowList, TranscriptView, WallView, RecordPane, QuestionCard, TextMap)
        for listed in widget._merged_bindings.key_to_bindings.values()  # type: ignore[union-attr]
        for binding in listed
        if binding.id
    }
    assert bound == actions.MOVABLE


def test_without_a_file_nothing_is_changed(tmp_path: Path) -> None:
    assert read_keymap(tmp_path / "config.toml") == Keymap()


def test_a_console_with_a_broken_keymap_says_so_and_does_not_open(tmp_path: Path) -> None:
    (tmp_path / "keymap.toml").write_bytes(b"\xff")
    options = load_settings(environ={"SWITCHBOARD_DATA_DIR": str(tmp_path)})
    with pytest.raises(ConfigError, match="not UTF-8"):
        SwitchboardApp(FakeCore(), settings=options)


def test_a_server_of_consoles_says_what_is_wrong_with_the_keymap_before_it_serves(
    tmp_path: Path,
) -> None:
    (tmp_path / "config.toml").write_text("")
    (tmp_path / "keymap.toml").write_text('[session]\nstp = "p"\n')
    ended = call(
        *("--data-dir", str(tmp_path / "data"), "--config", str(tmp_path / "config.toml")),
        *("web", "--port", "0", "--virtual-only"),
    )
    assert ended.returncode == 2
    assert "keymap.toml" in ended.stderr
    assert "session.stp" in ended.stderr
    assert not (tmp_path / "data").exists()


async def test_changed_keys_do_what_the_old_ones_did_and_are_what_is_shown(
    console: Open, tmp_path: Path
) -> None:
    (tmp_path / "keymap.toml").write_text(
        '[session]\nstop_all = "f9"\nstop = "p"\npause = "x"\n'
        '[view]\ndown = "K"\n[app]\nhelp = "Y"\n'
    )
    async with console() as seat:
        await seat.see("f9 stop all")
        table = seat.deck.sessions
        first = table.cursor_key
        await seat.press("j")
        assert table.cursor_key == first
        await seat.press("K")
        assert table.cursor_key != first
        await seat.press("ctrl+x")
        assert not any(isinstance(op, Interrupt) for op in seat.core.ops)
        await seat.press("Y")
        await seat.until(lambda: isinstance(seat.app.screen, HelpScreen), "the help")
        await seat.until(lambda: re.search(r"f9 +Stop all", seat.text()), "the key in the help")
        await seat.press("escape")
        # A letter that the operator chose is still a letter where one types.
        await seat.press("n", "Y")
        await seat.until(lambda: seat.deck.composer.text == "Y", "the letter in the field")
        await seat.press("f9")
        await seat.until(
            lambda: any(isinstance(op, Interrupt) for op in seat.core.ops), "the stop of all"
        )

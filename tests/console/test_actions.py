"""One registry: every action is done by something, said somewhere, and no two share a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from console import actions
from console.app import SwitchboardApp
from console.screens.compare import CompareScreen
from console.screens.deck import DeckScreen
from console.screens.device import DeviceScreen
from console.screens.history import HistoryScreen
from console.screens.jobs import JobsScreen
from console.screens.palette import search
from console.screens.replay import ReplayScreen
from console.screens.settings import SettingsScreen
from console.screens.wall import WallScreen
from widgets.phone_pane import PhonePane
from widgets.question_card import QuestionCard
from widgets.row_list import RowList
from widgets.transcript_view import TranscriptView
from widgets.wall_view import WallView

SCREENS = {
    actions.Where.DECK: DeckScreen,
    actions.Where.WALL: WallScreen,
    actions.Where.JOBS: JobsScreen,
    actions.Where.HISTORY: HistoryScreen,
    actions.Where.REPLAY: ReplayScreen,
    actions.Where.COMPARE: CompareScreen,
    actions.Where.DEVICE: DeviceScreen,
    actions.Where.SETTINGS: SettingsScreen,
    actions.Where.EVERYWHERE: SwitchboardApp,
}
KEYS = Path(__file__).parent.parent.parent / "docs" / "keys.md"


@pytest.mark.parametrize("action", actions.ACTIONS, ids=lambda action: action.id)
def test_what_is_listed_is_done_by_the_screen_or_by_a_widget(action: actions.Action) -> None:
    if action.own:
        bound = {
            key
            for widget in (RowList, TranscriptView, QuestionCard, PhonePane, DeckScreen, WallView)
            for key in widget._merged_bindings.key_to_bindings  # type: ignore[union-attr]
        } | {"space", "1…9"}
        assert set(action.keys) <= bound
    else:
        assert hasattr(SCREENS[action.where], "do_" + action.id.replace(".", "_"))


@pytest.mark.parametrize("where", list(SCREENS))
def test_no_two_actions_that_can_meet_share_a_key(where: actions.Where) -> None:
    seen: dict[str, str] = {}
    for action in actions.on_screen(where):
        for key in action.keys:
            # A widget that has the focus goes first, so it may take a key of its screen.
            if action.own:
                continue
            assert key not in seen, f"{key}: {seen.get(key)} and {action.id}"
            seen[key] = action.id


def test_ids_are_unique() -> None:
    assert len(actions.BY_ID) == len(actions.ACTIONS)


def test_the_document_is_what_the_registry_writes() -> None:
    current = KEYS.read_text(encoding="utf-8")
    assert current == actions.as_markdown(), "run: python -m console.actions"


def test_stop_all_and_quit_go_before_everything() -> None:
    priority = {b.key for b in actions.bindings(actions.Where.EVERYWHERE) if b.priority}
    assert {"ctrl+x", "ctrl+q"} <= priority


def test_the_palette_finds_by_any_word_and_puts_titles_first() -> None:
    deck = actions.on_screen(actions.Where.DECK)
    assert search(deck, "stop")[0].title.startswith("Stop")
    assert [a.id for a in search(deck, "element numbers")] == ["view.numbers"]
    assert search(deck, "no such thing at all") == []

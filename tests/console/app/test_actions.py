"""One registry: every action is done by something, said somewhere, and no two share a key."""

from pathlib import Path

import pytest

from console.app import SwitchboardApp
from console.keys import actions
from console.keys.controllers import method_name
from console.screens.deck.deck import DeckScreen
from console.screens.device.device import DeviceScreen
from console.screens.history.compare import CompareScreen
from console.screens.history.history import HistoryScreen
from console.screens.history.replay import ReplayScreen
from console.screens.jobs.jobs import JobsScreen
from console.screens.settings import SettingsScreen
from console.screens.wall import WallScreen
from widgets.base.row_list import RowList
from widgets.pictures.phone_pane import PhonePane
from widgets.questions.question_card import QuestionCard
from widgets.transcript.transcript_view import TranscriptView
from widgets.wall.wall_view import WallView

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
KEYS = Path(__file__).parent.parent.parent.parent / "docs" / "keys.md"


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
        screen = SCREENS[action.where]
        owners = (screen, *screen.CONTROLLERS)
        assert any(hasattr(owner, method_name(action.id)) for owner in owners)


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
    assert current == actions.as_markdown(), "run: python -m console.keys.actions"


def test_stop_all_and_quit_go_before_everything() -> None:
    priority = {b.key for b in actions.bindings(actions.Where.EVERYWHERE) if b.priority}
    assert {"ctrl+x", "ctrl+q"} <= priority

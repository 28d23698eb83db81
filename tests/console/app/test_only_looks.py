"""A console that only looks offers only what works there, on every screen."""

import pytest

from console.app_parts.browser_panel import BrowserPanel
from console.keys import actions
from console.keys.keymap import Keymap
from console.keys.unavailable import ONLY_LOOKS
from console.palette.catalog import _actions
from console.web.touch_acts import touch_acts
from tests.console.conftest import Open
from tests.console.fakes import FakeCore
from tests.console.fifty import play

SCREENS = ("1", "2", "3", "4", "comma")
_SENDS_NOTHING = frozenset({"job.review"})  # It goes to the card, where approving is an act.


async def test_a_read_only_console_offers_no_act_and_sends_none(console: Open) -> None:
    core = FakeCore()
    core.only_looks = True
    async with console(core=core, play=play) as seat:
        for screen in SCREENS:
            await seat.press(screen)
            top = seat.app.top
            assert top is not None
            words = {
                seat.app.keys.name(one.id): one
                for one in actions.on_screen(top.WHERE)
                if one.acts and not one.own
            }
            offered = {key for key, _ in top.footer_keys()}
            assert not offered & words.keys(), screen
            blocked = {entry.about: entry.why_not for entry in _actions(seat.app)}
            assert {blocked[one.id] for one in words.values()} <= {ONLY_LOOKS}, screen
        await seat.press("1", "exclamation_mark")
        await seat.see("read-only: it is answered in a console that acts")
        await seat.press("a", "a", "x", "n")
        await seat.see("switchboard web --drive")
        await seat.see("Read-only: nothing is sent from here")
        assert seat.deck.composer.field.disabled
        assert [op for op in core.ops if not op.changes_nothing] == []


def test_what_asks_the_core_for_a_change_is_marked_as_an_act() -> None:
    unmarked = {
        one.id
        for one in actions.ACTIONS
        if not one.acts
        and one.id.split(".")[0] in {"session", "question", "steer", "target", "job", "wheel"}
    }
    looks = {"session.replay", "session.copy", "session.editor", "question.next", "job.copy"}
    looks |= {"job.replay", "job.filter", "job.next_list", "job.previous_list", "job.open"}
    assert unmarked <= looks | {"job.group"} | _SENDS_NOTHING


@pytest.mark.parametrize("drives", [True, False])
def test_a_finger_finds_every_act_of_the_queue_by_the_operators_own_keys(drives: bool) -> None:
    keys = Keymap({"question.approve": ("Y", "f5")})
    acts = touch_acts(keys, may_drive=drives)
    queue = [one for one in actions.ACTIONS if one.id.startswith("question.")]
    expected = {one.id for one in queue if drives or not one.acts} - {"question.option"}
    assert len(acts) == len(expected) + drives
    assert (("Y", "Approve") in acts) is drives
    assert ("!", "Next") in acts


def test_a_page_around_the_console_is_told_once_which_phone_is_looked_at() -> None:
    told: list[str] = []

    class Page:
        is_web = True

        def open_url(self, url: str, *, new_tab: bool) -> None:
            assert not new_tab
            told.append(url)

    page = Page()
    panel = BrowserPanel(page)  # type: ignore[arg-type]
    for serial in ("a b/1", "a b/1", "", "127.0.0.1:6001"):
        panel.show(serial)
    page.is_web = False
    panel.show("other")
    assert told == ["#phone=a%20b%2F1", "#phone=127.0.0.1%3A6001"]

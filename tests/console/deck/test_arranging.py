"""The controller of order and groups over a `State`: no app, no screen."""

from types import SimpleNamespace

import pytest

from console.app_parts.settings_writer import SettingsWriter
from console.keys import actions
from console.screens.deck.arranging import ArrangeController
from tests.console.fakes import FakeCore
from tests.console.script import configure
from widgets.lists.session_order import Group, Sort


class Desk:
    def __init__(self, core: FakeCore) -> None:
        self.said: list[str] = []
        self.drawn = 0
        self.console_app = SimpleNamespace(bridge=core, say=self.said.append)

    def refresh_all(self) -> None:
        self.drawn += 1


def arranged(*hosts: str) -> tuple[ArrangeController, Desk, SettingsWriter, FakeCore]:
    core = FakeCore()
    for number, host in enumerate(hosts):
        configure(core, f"s{number}", "read", host=host)
    desk, kept = Desk(core), SettingsWriter(SimpleNamespace(settings=None))  # type: ignore[arg-type]
    return ArrangeController(desk, kept), desk, kept, core  # type: ignore[arg-type]


def around(controller: ArrangeController, action_id: str) -> list[str]:
    """Press a key until its choices come round; returns the choices as they came."""
    act = controller.do_view_group if action_id == "view.group" else controller.do_view_sort
    seen: list[str] = []
    for _ in range(20):
        promised = controller.word(actions.BY_ID[action_id])
        act()
        now = controller.group if action_id == "view.group" else controller.sort
        assert now.value in promised
        if now.value in seen:
            break
        seen.append(now.value)
    return seen


@pytest.mark.parametrize("hosts", [(), ("", ""), ("rack-1", "rack-1"), ("rack-1", "")])
def test_host_is_not_offered_where_there_are_not_two(hosts: tuple[str, ...]) -> None:
    controller, *_ = arranged(*hosts)
    assert around(controller, "view.group") == ["state", "phone", "tag", "age", "tree"]
    assert "host" not in around(controller, "view.sort")


def test_on_a_fleet_host_is_one_choice_more() -> None:
    controller, desk, _, _ = arranged("rack-1", "rack-2")
    assert set(around(controller, "view.group")) == {one.value for one in Group}
    assert set(around(controller, "view.sort")) == {one.value for one in Sort}
    assert "Sessions grouped by host." in desk.said and "Sessions sorted by host." in desk.said
    assert desk.drawn == len(desk.said)


def test_a_kept_choice_of_hosts_waits_for_the_second_host() -> None:
    controller, _, kept, core = arranged("rack-1")
    kept.keep(sort="host", group="host")
    assert (controller.group, controller.sort) == (Group.TREE, Sort.ASKING)
    assert controller.indicator == ""
    configure(core, "other", "read", host="rack-2")
    assert (controller.group, controller.sort) == (Group.HOST, Sort.HOST)
    assert controller.indicator == "by host ↓ host"

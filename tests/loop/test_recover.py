"""When a session gets nowhere; the vectors of chapter 7 named "oscillation"."""

import pytest

from agent.loop.conversation.memory import action_key
from agent.loop.signals.recover import RecentActions, oscillates, wrong_app
from agent.protocol import ToolCallRequested
from tests.loop.paper_phone import node
from tests.loop.verification.screens import observation


def test_oscillation_abab_warns() -> None:
    assert oscillates("ABAB")


def test_oscillation_aaa_alone_is_too_few_and_baaa_warns() -> None:
    assert not oscillates("AAA")
    assert oscillates("BAAA")


def test_oscillation_abba_is_none() -> None:
    assert not oscillates("ABBA")


def test_three_actions_without_effect_are_called_stagnation() -> None:
    trail = RecentActions()
    trail.saw("A", after_action=False)
    for _ in range(2):
        trail.saw("A", after_action=True)
    assert trail.warnings() == ()
    trail.saw("A", after_action=True)
    assert any("changed nothing" in warning for warning in trail.warnings())


def test_looking_again_without_an_action_is_no_sign_of_being_stuck() -> None:
    trail = RecentActions()
    for _ in range(6):
        trail.saw("A", after_action=False)
    assert trail.warnings() == ()


def test_the_third_identical_action_without_effect_is_a_duplicate() -> None:
    trail = RecentActions()
    trail.did("click x", scroll=False, changed=False)
    assert not trail.is_duplicate("click x")
    trail.did("click x", scroll=False, changed=False)
    assert trail.is_duplicate("click x")
    assert not trail.is_duplicate("click y")


def test_identical_actions_that_have_effect_are_no_duplicates() -> None:
    trail = RecentActions()
    for _ in range(5):
        trail.did("scroll down", scroll=True, changed=True)
    assert not trail.is_duplicate("scroll down")


def test_eight_scrolls_in_a_row_warn_and_another_action_ends_the_count() -> None:
    trail = RecentActions()
    for n in range(8):
        trail.did(f"scroll {n}", scroll=True, changed=True)
    assert any("scrolled 8 times" in warning for warning in trail.warnings())
    trail.did("click", scroll=False, changed=True)
    assert trail.warnings() == ()


def test_another_app_than_the_session_is_for_is_said_and_system_windows_are_not() -> None:
    assert "org.b is in front" in wrong_app("org.b", "org.a")
    assert wrong_app("org.a", "org.a") == ""
    assert wrong_app("com.android.systemui", "org.a") == ""
    assert wrong_app("com.google.android.permissioncontroller", "org.a") == ""
    assert wrong_app("org.b", "") == ""


def test_the_same_text_typed_a_third_time_is_a_duplicate_though_the_field_grew() -> None:
    trail = RecentActions()
    typing = 'type_text {"element":3,"text":"Run"}'
    trail.did(typing, scroll=False, changed=True)
    assert not trail.is_duplicate(typing)
    trail.did(typing, scroll=False, changed=True)
    assert trail.is_duplicate(typing)
    assert not trail.is_duplicate('type_text {"element":3,"text":"Walk"}')
    for _ in range(2):
        trail.did("click plus", scroll=False, changed=True)
    assert not trail.is_duplicate("click plus"), "what changes something may be pressed on"


@pytest.mark.parametrize(
    ("tool", "one", "other", "same"),
    [
        ("scroll", '{"direction": "down"}', '{"direction": "up"}', False),
        (
            "scroll",
            '{"direction": "down", "element": 3}',
            '{"element": 5, "direction": "down"}',
            True,
        ),
        ("drag", '{"element": 1, "end": "40%"}', '{"element": 1, "end": "70%"}', False),
        ("click_element", '{"element": 1}', '{"element": 1, "double": true}', False),
        ("click_element", '{"element": 1}', '{"label": "List", "expected": "It opens"}', True),
    ],
)
def test_what_is_done_to_an_element_makes_another_action_and_its_number_does_not(
    tool: str, one: str, other: str, same: bool
) -> None:
    (element,) = observation(node("List")).elements

    def key(arguments: str) -> str:
        call = ToolCallRequested(
            step=1, call_id="c", tool=tool, arguments=arguments, element=element
        )
        return action_key(call)

    assert (key(one) == key(other)) is same

"""Goals of which one part turns back what another did: each part counts when it was so."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.request import verdict_request
from agent.loop.verification.verifier import Claim, RulesVerifier
from agent.models.pilot.verifying import judged
from agent.models.verifying import SeenScreen
from agent.protocol import ObservationRecorded, UserMessage
from agent.records import AppInfo, GoalVerdict, Observation, UiNode, VerifiedBy
from tests.loop.paper_phone import button, node
from tests.loop.verification.screens import observation

SETTINGS = "com.android.settings"
ON_THEN_OFF = "turn on Wi-Fi then turn off Wi-Fi"


def switch(is_on: bool, enabled: bool = True) -> UiNode:
    return button("Wi-Fi", 0.3, checkable=True, checked=is_on, enabled=enabled)


def page(is_on: bool, enabled: bool = True) -> Observation:
    return observation(node("Internet"), switch(is_on, enabled), package=SETTINGS)


def seen(is_on: bool) -> SeenScreen:
    return SeenScreen(SETTINGS, ("Internet", f"Wi-Fi [{'' if is_on else 'UN'}CHECKED]"), ())


def verdict(goal: str, states: list[bool], *, hints: tuple[str, ...] = (), before: int = 0) -> str:
    screens = [seen(is_on) for is_on in states]
    apps = [(SETTINGS, "Settings")]
    return judged(goal, hints, apps=apps, screens=screens, pressed=(), before=before).verdict.value


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([False, True, False], "met"),
        ([True, False], "met"),
        ([False], "cannot_tell"),
        ([False, True], "not_met"),
        ([True, False, True], "not_met"),
        ([], "cannot_tell"),
    ],
)
def test_each_part_was_so_in_its_turn_and_the_last_one_is(
    states: list[bool], expected: str
) -> None:
    assert verdict(ON_THEN_OFF, states) == expected


@given(st.lists(st.booleans(), min_size=2, max_size=4), st.lists(st.booleans(), max_size=8))
def test_a_goal_is_met_when_its_states_were_seen_in_a_row_and_the_last_is_the_newest(
    wanted: list[bool], states: list[bool]
) -> None:
    parts = [is_on for is_on, _ in groupby(wanted)]
    goal = " then ".join(f"turn {'on' if is_on else 'off'} Wi-Fi" for is_on in parts)
    runs = [is_on for is_on, _ in groupby(states)]
    # Of two states that take turns, a row of so many is in any row that is as long and ends alike.
    is_met = bool(runs) and runs[-1] == parts[-1] and len(runs) >= len(parts)
    assert (verdict(goal, states) == "met") is is_met


def test_what_was_seen_before_the_goal_shows_nothing_of_it() -> None:
    assert verdict(ON_THEN_OFF, [True, False], before=1) == "cannot_tell"


def test_a_later_word_of_the_operator_stands_for_what_it_reverses() -> None:
    assert verdict("turn on Wi-Fi", [False], hints=("turn off Wi-Fi",)) == "met"
    assert verdict("turn on Wi-Fi", [False, True], hints=("turn off Wi-Fi",)) == "not_met"


def past(goal: str, *looks: bool, earlier: tuple[bool, ...] = ()) -> ClaimHistory:
    """Fold a session: what was seen for an earlier goal, and for this one."""
    made, step = ClaimHistory("something else"), 0
    for is_on in earlier:
        step += 1
        made.fold(ObservationRecorded(step=step, observation=page(is_on)))
    made.fold(UserMessage(text=goal, message_id="m"))
    for is_on in looks:
        step += 1
        made.fold(ObservationRecorded(step=step, observation=page(is_on)))
    return made


async def test_the_rules_quote_the_screens_of_the_way_and_only_those_since_the_goal() -> None:
    rules = RulesVerifier(judged, lambda: (AppInfo(package=SETTINGS, label="Settings"),))
    found = await rules.verify(past(ON_THEN_OFF, False, True, False), Claim())
    assert found.verification.verified_by is VerifiedBy.RULES
    assert found.verification.is_met
    assert [one.step for one in found.verification.evidence] == [2, 3]
    stale = await rules.verify(past(ON_THEN_OFF, False, earlier=(True,)), Claim())
    assert stale.verification.verdict is not GoalVerdict.MET


def test_a_verifier_is_shown_the_switches_that_changed_between_first_and_last() -> None:
    said = verdict_request(past(ON_THEN_OFF, False, True, True, False, earlier=(True,))).messages[1]
    _, _, listed = said.text.partition("## Switches that changed, as screens showed them\n")
    assert listed.splitlines()[:3] == [
        "- step 2: Wi-Fi [UNCHECKED]",
        "- step 3: Wi-Fi [CHECKED]",
        "- step 5: Wi-Fi [UNCHECKED]",
    ]
    steady = verdict_request(past("turn on Wi-Fi", True, True)).messages[1]
    assert "## Switches" not in steady.text


async def test_a_switch_that_cannot_be_pressed_shows_its_state_as_well() -> None:
    made = past("turn on Wi-Fi", False, True)
    made.fold(ObservationRecorded(step=3, observation=page(False, enabled=False)))
    rules = RulesVerifier(judged, lambda: (AppInfo(package=SETTINGS, label="Settings"),))
    found = await rules.verify(made, Claim())
    assert found.verification.verdict is GoalVerdict.NOT_MET
    assert [one.step for one in found.verification.evidence] == [3]
    said = verdict_request(made).messages[1].text
    assert "- step 3: Wi-Fi [UNCHECKED] [DISABLED]" in said

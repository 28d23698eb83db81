"""What speaks against a claim by its form alone."""

from agent import protocol, records
from agent.loop.verification.claim_history import ClaimHistory
from agent.loop.verification.structure import NOTHING_DONE, objections, open_dialog
from tests.loop.paper_phone import button, field, node
from tests.loop.verification.screens import observation

PAGE = (button("Lamp", 0.2), button("Back", 0.8), node("A page", (0.1, 0.1, 0.9, 0.15)))


def dialog(*labels: str) -> tuple[records.UiNode, ...]:
    names = (f"android:id/button{3 - at}" for at in range(3))
    return tuple(
        button(label, 0.5 + at / 10, resource_id=name)
        for at, (label, name) in enumerate(zip(labels, names, strict=False))
    )


class Played:
    """A past that is written step by step."""

    def __init__(self, goal: str = "Turn on the lamp") -> None:
        self.past = ClaimHistory(goal)
        self.step = 0

    def see(self, *nodes: records.UiNode) -> records.Observation:
        self.step += 1
        seen = observation(*nodes)
        self.past.fold(protocol.ObservationRecorded(step=self.step, observation=seen))
        return seen

    def do(
        self,
        tool: str,
        result: str,
        *,
        element: records.Element | None = None,
        outcome: records.ActionOutcome = records.ActionOutcome.DONE,
        arguments: str = "{}",
        kind: str = "action",
    ) -> None:
        call_id = f"c{self.step}-{len(self.past.actions)}"
        self.past.fold(
            protocol.ToolCallRequested(
                step=self.step,
                call_id=call_id,
                tool=tool,
                arguments=arguments,
                kind=kind,
                element=element,
            )
        )
        self.past.fold(
            protocol.ToolCallFinished(step=self.step, call_id=call_id, outcome=outcome, text=result)
        )


def test_a_claim_as_the_first_call_of_all_is_objected_to() -> None:
    played = Played()
    played.see(*PAGE)
    assert objections(played.past) == (NOTHING_DONE,)


def test_opening_the_app_scrolling_and_going_back_are_no_effects() -> None:
    played = Played()
    played.see(*PAGE)
    played.do("launch_app", 'OK: Launched "Lamps". It is in front.')
    played.do("scroll", "OK: Scrolled down.")
    played.do("press_button", "OK: Pressed BACK.", arguments='{"button": "BACK"}')
    played.do("click_element", "WARNING: Clicked, but the screen did not change.")
    assert NOTHING_DONE in objections(played.past)


def test_a_click_that_took_effect_stands_and_so_does_an_unknown_one_and_the_operators_own() -> None:
    clicked = Played()
    clicked.see(*PAGE)
    clicked.do("click_element", 'OK: Clicked [1] "Lamp".')
    assert objections(clicked.past) == ()
    unknown = Played()
    unknown.do("click_element", "UNKNOWN: Clicked", outcome=records.ActionOutcome.UNKNOWN)
    assert NOTHING_DONE not in objections(unknown.past)
    helped = Played()
    helped.past.fold(
        protocol.WheelActed(serial="p", said="Tapped", outcome=records.ActionOutcome.DONE)
    )
    assert objections(helped.past) == ()


def test_a_question_may_be_answered_without_any_effect_and_after_a_click_that_failed() -> None:
    played = Played("Which lamps are on?")
    played.see(*PAGE)
    played.do("click_element", "FAILED: no", outcome=records.ActionOutcome.FAILED)
    assert objections(played.past) == ()


def test_a_last_action_that_did_not_work_is_objected_to_until_one_works() -> None:
    played = Played()
    played.see(*PAGE)
    played.do("click_element", 'OK: Clicked [1] "Lamp".')
    played.do("click_element", "WARNING: Clicked, but the screen did not change.")
    assert "did not work" in objections(played.past)[0]
    played.do("click_element", 'OK: Clicked [1] "Lamp".')
    assert objections(played.past) == ()


def test_to_reach_the_end_of_a_list_is_no_failure() -> None:
    played = Played()
    played.see(*PAGE)
    played.do("click_element", 'OK: Clicked [1] "Lamp".')
    played.do("scroll", "WARNING: Scrolled down, but nothing moved: this is the end of the area.")
    assert objections(played.past) == ()


def test_a_dialog_with_a_verb_is_objected_to() -> None:
    played = Played("Buy a lamp")
    played.see(*PAGE)
    played.do("click_element", 'OK: Clicked [1] "Buy".')
    played.see(*dialog("Place order", "Cancel"))
    assert objections(played.past) == ('A dialog is still open: [1] "Place order", [2] "Cancel"',)


def test_dialogs_of_apps_that_draw_their_own_are_known_by_their_buttons() -> None:
    assert open_dialog(observation(button("Delete", 0.5), button("Cancel", 0.6)))
    assert open_dialog(observation(button("Löschen", 0.5), button("Abbrechen", 0.6)))
    assert not open_dialog(observation(button("OK", 0.5)))
    assert not open_dialog(observation(button("Got it", 0.5), button("Cancel", 0.6)))
    assert not open_dialog(observation(*PAGE))


def test_a_message_that_is_only_to_be_read_and_a_form_are_no_dialogs() -> None:
    assert not open_dialog(observation(*dialog("OK")))
    form = (field("Name", 0.2), button("Save", 0.5), button("Cancel", 0.6))
    assert not open_dialog(observation(*form))
    rows = tuple(button(f"Row {at}", at / 20) for at in range(16))
    assert not open_dialog(observation(*rows, button("Cancel", 0.9), button("Delete", 0.95)))


def test_an_approved_act_that_the_app_asks_about_again_is_still_open() -> None:
    played = Played("Order the lamp")
    cart = played.see(
        *(button(f"Row {at}", at / 20) for at in range(13)), button("Place order", 0.9)
    )
    element = cart.elements[-1]
    asked = records.Question(
        question_id="q",
        session_id="s",
        text="May it?",
        asked_ms=1,
        kind=records.QuestionKind.APPROVAL,
        subject=records.Subject(action="click_element", element=element),
    )
    played.past.fold(protocol.RequestUserInput(question=asked))
    played.past.fold(protocol.QuestionAnswered(question_id="q", answer="Approve"))
    played.do("click_element", 'OK: Clicked "Place order".', element=element)
    assert objections(played.past) == ()
    again = played.see(
        *(button(f"Row {at}", at / 20) for at in range(13)),
        node("Place this order?", (0.1, 0.7, 0.9, 0.72)),
        button("Place order", 0.75),
    )
    assert objections(played.past) == (
        '"Place order" was approved, and the app still asks to confirm it',
    )
    played.do("click_element", 'OK: Clicked "Place order".', element=again.elements[-1])
    assert objections(played.past) == ()


def test_what_was_done_for_an_earlier_goal_does_not_count_for_a_newer_one() -> None:
    played = Played()
    played.see(*PAGE)
    played.do("click_element", 'OK: Clicked [1] "Lamp".')
    played.past.fold(protocol.UserMessage(text="Turn it off", message_id="m"))
    assert objections(played.past) == (NOTHING_DONE,)


def test_asking_for_the_same_again_in_mid_work_is_the_same_goal_but_for_a_job() -> None:
    played = Played()
    played.see(*PAGE)
    played.do("click_element", 'OK: Clicked [1] "Lamp".')
    played.past.fold(protocol.UserMessage(text="Turn on the lamp", message_id="m"))
    assert objections(played.past) == ()
    played.past.fold(protocol.UserMessage(text="Turn on the lamp", message_id="n", job_id=3))
    assert objections(played.past) == (NOTHING_DONE,)


def test_asking_for_the_same_again_after_it_was_done_is_a_goal_of_its_own() -> None:
    played = Played()
    played.see(*PAGE)
    played.do("click_element", 'OK: Clicked [1] "Lamp".')
    played.past.fold(protocol.TaskComplete(turn_id="t", last_agent_message="It is on."))
    assert objections(played.past) == ()
    played.past.fold(protocol.UserMessage(text="Turn on the lamp", message_id="m"))
    assert objections(played.past) == (NOTHING_DONE,)


def test_asking_for_the_first_thing_again_takes_a_hint_back() -> None:
    played = Played()
    played.see(*PAGE)
    played.past.fold(protocol.UserMessage(text="No, the heater", message_id="h", steer=True))
    played.past.fold(protocol.SteerApplied(message_id="h", step=1))
    assert played.past.hints == ["No, the heater"]
    played.past.fold(protocol.UserMessage(text="Turn on the lamp", message_id="m"))
    assert played.past.hints == []

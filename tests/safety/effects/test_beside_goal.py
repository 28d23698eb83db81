"""What an act gives to whom is compared with the operator's own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.records import Effect, EffectVerb, Source, Stated
from agent.safety.effects.goal_match import beside_goal
from agent.safety.effects.wording import approval_question


@pytest.mark.parametrize(
    ("recipient", "amount", "goal", "said"),
    [
        ("Ana Silva", "€20.00", "pay ana 20 € for lunch", ""),
        ("Bob Lee", "€20.00", "Pay Ana €20", 'your words do not name "Bob Lee".'),
        ("Ana Silva", "€200.00", "Pay Ana €20", "your words say €20."),
        ("Bob Lee", "$5", "Send Ana $7", 'your words do not name "Bob Lee"; your words say $7.'),
        ("Ana Silva", "€12.00", "Pay Ana what I owe her", ""),
        ("+49 171 2345678", "", "Write 0171 2345678: I am late", ""),
        ("+49 171 2345678", "", "Text mom", 'your words do not name "+49 171 2345678".'),
        ("Ána", "", "write ANA", ""),
        ("", "€3", "Pay Ana", ""),
        ("Bob", "€3", "", ""),
    ],
)
def test_what_the_goal_does_not_say_is_said(
    recipient: str, amount: str, goal: str, said: str
) -> None:
    to = Stated(text=recipient, source=Source.SCREEN if recipient else Source.UNREADABLE)
    assert beside_goal(to, Stated(text=amount) if amount else None, goal) == said


def test_it_stands_on_the_approval_above_the_facts() -> None:
    effect = Effect(
        verb=EffectVerb.SPEND,
        recipient=Stated(text="Bob Lee"),
        amount=Stated(text="€20"),
        beside_goal='your words do not name "Bob Lee".',
    )
    lines = approval_question(effect, 'Press "Pay".', "").splitlines()
    assert lines[2] == 'Check: your words do not name "Bob Lee".'


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=120))
def test_whatever_stands_there_one_line_or_nothing_comes_of_it(
    recipient: str, amount: str, goal: str
) -> None:
    said = beside_goal(Stated(text=recipient), Stated(text=amount), goal)
    assert "\n" not in said
    assert len(said) < 300

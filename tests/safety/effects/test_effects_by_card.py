"""What an app's card says of its controls: it adds questions, and takes none away."""

import pytest

from agent.errors import ConfigError
from agent.knowledge.card import Card, check, read_card
from agent.knowledge.draft import as_toml
from agent.loop.acting.guard import judge
from agent.records import EffectVerb
from agent.safety.capabilities import Decision
from bench.redteam.case import resolve_act
from bench.redteam.screens import observe

SCREEN = (
    "app com.example.forms .Main\ntitle Form\ntext Hello\nbutton Verify #btn_verify\n"
    "button Sketch\nbutton Help"
)
PAY = "app com.example.pay .Pay\ntitle Pay\ntext To Corner Cafe\ntext €12.50\nbutton Pay now"


def asked(screen: str, act: str, commits: dict[str, tuple[str, ...]]) -> EffectVerb | None:
    """Return the effect that an act is asked about; None: it is not."""
    seen = observe(screen, at_ms=1)
    verdict = judge(resolve_act(act, seen), seen, commits=commits, phone="p", goal="g")
    if verdict.decision is Decision.ALLOW or verdict.effect is None:
        return None
    return verdict.effect.verb


@pytest.mark.parametrize("control", ["Verify", "verify", "btn_verify"])
def test_a_control_of_the_card_is_asked_about_by_its_label_or_its_id(control: str) -> None:
    assert asked(SCREEN, "press Verify", {}) is None
    assert asked(SCREEN, "press Verify", {"send": (control,)}) is EffectVerb.SEND


def test_other_controls_of_the_app_are_judged_as_before() -> None:
    assert asked(SCREEN, "press Help", {"send": ("Verify",)}) is None


def test_a_card_takes_no_question_away_and_makes_none_weaker() -> None:
    for commits in ({}, {"send": ("Pay now",)}, {"navigate": ("Pay now",)}):
        assert asked(PAY, "press Pay now", commits) is EffectVerb.SPEND


def test_a_card_that_says_what_it_cannot_is_refused() -> None:
    card = Card(package="a.b", app_name="A", commits={"press": ("Help",), "send": ("",)})
    assert len(check(card)) == 2
    head = 'package = "a.b"\napp_name = "A"\n[commits]\n'
    assert read_card(f'{head}send = ["Verify"]', "x").commits == {"send": ("Verify",)}
    written = Card(package="a.b", app_name="A", commits={"send": ("Verify", 'a "b"')})
    assert read_card(as_toml(written), "x") == written
    with pytest.raises(ConfigError, match="not one of"):
        read_card(f'{head}harmless = ["Pay now"]', "x")

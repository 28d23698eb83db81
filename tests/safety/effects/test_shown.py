"""What a card lists of the screen: seen, named, and nothing concluded."""

from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.flow import Flow
from agent.safety.effects.page import page_of
from agent.safety.effects.structure.shown import shown_around
from bench.redteam.case import number
from bench.redteam.screens import observe


def shown(screen: str, control: str, flow: Flow | None = None) -> dict[str, str]:
    seen = observe(screen)
    element = next(e for e in seen.elements if e.number == number(control, seen))
    lines = shown_around(element, page_of(seen), flow or Flow())
    return dict(line.split(": ", 1) for line in lines)


def test_ticked_things_are_named() -> None:
    page = (
        "app com.x .Y\ntitle Photos\nswitch Beach on\nswitch Passport on\nswitch Cat off\nbutton Go"
    )
    assert shown(page, "Go")["Chosen"] == "Beach · Passport"


def test_all_amounts_have_their_captions_and_a_single_one_is_not_repeated() -> None:
    page = "app com.x .Y\ntitle Transfer\ntext Amount | 500,00 €\ntext Fee | 1,20 €\nbutton Go"
    assert shown(page, "Go")["Amounts"] == "Amount 500,00 € · Fee 1,20 €"
    assert "Amounts" not in shown("app com.x .Y\ntitle T\ntext Total | 5,00 €\nbutton Go", "Go")


def test_fields_that_have_scrolled_away_are_told_as_typed_earlier() -> None:
    flow = Flow()
    first = observe("app com.x .Y\ntitle Form\nfield To = Ana #to\nfield Text = hello #text")
    flow.saw(first)
    for name, text in (("To", "Ana"), ("Text", "hello")):
        element = next(e for e in first.elements if e.number == number(name, first))
        flow.did(Act(kind=ActKind.TYPE, element=element, text=text), first)
    later = "app com.x .Y\ntitle Form\nfield Text = hello #text\nbutton Go"
    told = shown(later, "Go", flow)
    assert told["Fields"] == "Text = hello"
    assert told["Typed earlier"] == "to = Ana"


def test_the_lines_beside_a_control_are_those_near_it() -> None:
    rows = "\n".join(f"text Line {n}" for n in range(12))
    told = shown(f"app com.x .Y\ntitle Page\n{rows}\nbutton Go", "Go")
    assert told["On the screen"] == "Line 8 · Line 9 · Line 10 · Line 11"


def test_a_secret_is_in_no_line() -> None:
    told = shown("app com.x .Y\ntitle Sign in\nsecret Password = hunter2\nbutton Go", "Go")
    assert "hunter2" not in str(told)

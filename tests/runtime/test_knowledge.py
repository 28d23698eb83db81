"""App cards: found by words, checked before they are in force, drafted from a session."""

from pathlib import Path

import pytest

from agent.errors import ConfigError, UsageError
from agent.knowledge.card import Card, check, read_card
from agent.knowledge.draft import as_toml, draft_card
from agent.knowledge.library import Library, load
from agent.protocol import Event
from tests.loop.paper_phone import APP, PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task, texts
from virtual_phone.apps import all_apps


def test_every_card_that_comes_along_passes_its_check() -> None:
    cards = load().all()
    assert [check(card) for card in cards] == [[] for _ in cards]


def test_the_seven_shops_and_every_app_of_the_virtual_phone_have_a_card() -> None:
    library = load()
    for package in (
        "com.dominos",
        "in.swiggy.android",
        "com.application.zomato",
        "in.amazon.mshop.android.shopping",
        "com.flipkart.android",
        "com.ubercab",
        "com.olacabs.customer",
        *all_apps(),
    ):
        assert library.of(package) is not None, package


@pytest.mark.parametrize(
    ("text", "app"),
    [
        ("Get a refund from Domino's Pizza", "Domino's"),
        ("book an Uber to the station", "Uber"),
        ("my OLA cab was late", "Ola"),
        ("order from Uber Eats", None),
        ("buy a cola at Motorola", None),
        ("the supermarket", None),
    ],
)
def test_an_app_is_found_by_words_and_not_by_letters(text: str, app: str | None) -> None:
    found = load().named(text)
    assert (found.app_name if found else None) == app


def test_of_two_apps_by_one_name_none_is_meant() -> None:
    one = Card(package="a.b", app_name="Shop")
    other = Card(package="c.d", app_name="Shop")
    assert Library({"a.b": one, "c.d": other}).named("open the shop") is None


def test_an_operators_card_comes_first_and_a_broken_one_takes_no_other_away(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('package = "com.ubercab"\napp_name = "My Uber"\n')
    (tmp_path / "broken.toml").write_text("package = ")
    library = load(tmp_path)
    mine = library.of("com.ubercab")
    assert mine is not None
    assert mine.app_name == "My Uber"
    assert len(library.broken) == 1
    assert library.of("com.dominos") is not None


@pytest.mark.parametrize(
    "text",
    [
        'package = "nodots"\napp_name = "X"\n',
        'package = "a.b"\napp_name = "…"\n',
        'package = "a.b"\napp_name = "X"\nwhat = 1\n',
        'package = "a.b"\napp_name = "X"\nnames = ["Y"]\nnot_names = ["y"]\n',
        'package = "a.b"\napp_name = "X"\nhints = ["a\\u001bb"]\n',
        f'package = "a.b"\napp_name = "X"\nhints = ["{"x" * 301}"]\n',
        'app_name = "X"\n',
    ],
)
def test_a_card_with_a_fault_is_refused_by_name(text: str) -> None:
    with pytest.raises(ConfigError, match=r"card\.toml"):
        read_card(text, "card.toml")


async def test_what_is_known_of_the_app_stands_in_the_prompt() -> None:
    goal = "Get a refund for my order from Larkspur"
    model = scripted(DONE, DONE)
    await task().run(MemoryContext(model, PaperPhone(lambda: [button("Go", 0.3)]), goal=goal))
    said = texts(model)[1]
    assert "## About Larkspur (com.example.larkspur)" in said
    assert "The way to support:\n1. Open Orders" in said
    other = scripted(DONE, DONE)
    await task().run(MemoryContext(other, PaperPhone(lambda: [button("Go", 0.3)]), goal="do it"))
    assert "## About" not in texts(other)[1]


async def test_a_card_is_drafted_from_what_worked_and_reads_back() -> None:
    opened = 0

    def on(what: str) -> None:
        nonlocal opened
        opened += what == "tap Help"

    phone = PaperPhone(lambda: [button("Wallet", 0.2), button("Help", 0.3 + opened / 10)], on)
    model = scripted(says("click_element", element=1), says("click_element", element=2), DONE)
    context = MemoryContext(model, phone)
    await task().run(context)
    card = draft_card(context.events, app_name='The "App"')
    assert card.package == APP
    assert card.support_path == ('Press "Help".',)
    assert card.pitfalls == ('"Wallet" leads nowhere.',)
    assert read_card(as_toml(card, note="two\nlines"), "x") == card


def test_a_session_that_pressed_nothing_gives_no_card() -> None:
    events: list[Event] = []
    with pytest.raises(UsageError):
        draft_card(events)

"""A screen that asks to sign in: told from others, and said to a model that has no account."""

import pytest

from agent.loop.screen.login_wall import WARNING, is_login_wall
from agent.records import Bounds, Element, UiNode
from tests.loop.paper_phone import PaperPhone, button, node
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task, texts

HOME = [button("Explore", 0.3), button("Offers", 0.5), node("Welcome")]
WALL = [button("Sign in", 0.3), button("Create account", 0.5), node("Forgot password?")]


def shown(*labels: str, pressed: str = "") -> tuple[Element, ...]:
    return tuple(
        Element(
            number=at + 1,
            key=label,
            kind="btn" if label == pressed else "text",
            label=label,
            bounds=Bounds(left=0.1, top=at / 20, right=0.9, bottom=at / 20 + 0.03),
            clickable=label == pressed,
        )
        for at, label in enumerate(labels)
    )


@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        (shown("Log in", "Forgot password?"), True),
        (shown("Welcome", "Sign in", pressed="Sign in"), True),
        (shown("Welcome", "Sign in"), False),
        (shown("Sign in", "Log out", pressed="Sign in"), False),
        (shown("Phone number", "Enter OTP"), True),
        (shown("My account", "Password", "Sign in", pressed="Sign in"), False),
        (shown("Blog into the news", "Design index"), False),
        (shown("Bluetooth", "Sound", pressed="Sound"), False),
    ],
)
def test_a_login_wall_is_told_by_whole_words(elements: tuple[Element, ...], expected: bool) -> None:
    assert is_login_wall(elements) is expected


def walled() -> PaperPhone:
    """A phone on which every button leads to a wall, after the second press."""
    presses: list[str] = []

    def screen() -> list[UiNode]:
        return WALL if len(presses) >= 2 else [*HOME, node(f"Page {len(presses)}")]

    return PaperPhone(screen, presses.append)


async def test_a_model_without_an_account_is_told_to_ask() -> None:
    explore = says("click_element", element=1)
    model = scripted(explore, says("click_element", element=2), DONE)
    goal, yes = "Find the newest offers", lambda _question: "Approve"
    await task().run(MemoryContext(model, walled(), goal=goal, answer=yes))
    assert WARNING not in texts(model, 1)[-1]
    assert WARNING in texts(model, 2)[-1]


async def test_who_was_asked_to_sign_in_is_told_nothing() -> None:
    explore = says("click_element", element=1)
    model = scripted(explore, says("click_element", element=2), DONE)
    await task().run(MemoryContext(model, walled(), goal="Sign in as ana with the password tea"))
    assert WARNING not in texts(model, 2)[-1]

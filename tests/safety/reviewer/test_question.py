"""What a reviewer is asked: bounded, fenced, and the same again for the same act."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.records import Bounds, Element, Observation
from agent.safety.effects.acts import Act, ActKind
from agent.safety.reviewer.question import INSTRUCTIONS, PARAMETERS, ReviewQuestion, done_line
from agent.safety.reviewer.screen_lines import screen_lines
from bench._tokens import count_tokens
from bench.redteam.screens import observe

MOST_TOKENS = 700
"""Of one question beside what is told first, which an endpoint caches."""
_WIDE = "text {n}: the quick brown fox jumps over the lazy dog and runs back home again"


def crowded(count: int, at: int, text: str = _WIDE) -> tuple[Observation, Element]:
    seen = observe("app com.x .Y\ntitle Things\nrow Item | 1\nbutton Continue", at)
    title, row, button = seen.elements
    rows = tuple(
        replace(
            row,
            number=n + 2,
            label=f"Item {n + at} | {text.format(n=n)}",
            bounds=Bounds(left=0, top=0.2 + n / 200, right=1, bottom=0.21 + n / 200),
        )
        for n in range(count)
    )
    return replace(seen, elements=(title, *rows, button)), button


def question(screen: Observation, element: Element | None, **more: object) -> ReviewQuestion:
    act = Act(kind=ActKind.PRESS, element=element)
    given: dict[str, object] = {"words": ("look at my things",), **more}
    return ReviewQuestion(acts=(act,), screen=screen, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        _WIDE,
        "Быстрая коричневая лиса прыгает через ленивую собаку и бежит домой {n}",
        "今日は天気がとても良いので、公園まで散歩に行きましょう {n}",
        "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจแล้ววิ่งกลับบ้าน {n}",
    ],
)
def test_a_question_about_crowded_screens_stays_short_and_shows_what_is_touched(text: str) -> None:
    seen, element = crowded(80, 1, text)
    before, _ = crowded(60, 900, text)
    done = tuple(f'pressed "{_WIDE.format(n=n)}"' for n in range(40))
    asked = question(seen, element, before=before, done=done, approved=("act 3 (send)",))
    assert count_tokens(asked.text) <= MOST_TOKENS
    assert '=> button "Continue"' in asked.text
    assert 'text "Things"' in asked.text
    assert "act 40: " in asked.text


def test_long_words_of_an_operator_are_bounded_and_the_newest_are_kept() -> None:
    words = ("tidy up", *(f"hint {n}: " + "do as I say " * 60 for n in range(30)), "only look")
    seen, element = crowded(80, 1)
    asked = question(seen, element, words=words)
    assert "- tidy up" in asked.text and "- later: only look" in asked.text
    assert count_tokens(asked.text) <= MOST_TOKENS + 300


def test_what_is_told_first_is_the_same_for_all_and_fits_a_small_model() -> None:
    assert count_tokens(INSTRUCTIONS + str(PARAMETERS)) < 1200


@given(st.text(max_size=300))
def test_no_label_ends_the_fence_or_writes_a_line(label: str) -> None:
    seen = observe("app com.x .Y\ntitle T\nbutton Go")
    hostile = tuple(
        Element(number=e.number, key=e.key, kind=e.kind, label=label, value=label, bounds=e.bounds)
        for e in seen.elements
    )
    screen = Observation(started_ms=1, ended_ms=2, foreground=seen.foreground, elements=hostile)
    text = question(screen, hostile[0], done=(label,)).text
    assert text.count("<<< SEEN") == text.count("SEEN >>>") == 1
    assert all(line.startswith(("=> ", "- ")) for line in screen_lines(screen, hostile[:1]))


def test_the_time_of_day_makes_no_new_question_and_another_price_does() -> None:
    def of(text: str) -> str:
        seen = observe(f"app com.x .Y\ntitle Order\ntext {text}\nbutton Go")
        return question(seen, seen.elements[-1]).sha256

    assert of("It is 10:31") == of("It is 10:32")
    assert of("$10") != of("$11")


def test_a_secret_is_in_no_line() -> None:
    seen = observe("app com.x .Y\ntitle Sign in\nsecret Password")
    element = next(e for e in seen.elements if e.editable)
    act = Act(kind=ActKind.TYPE, element=element, text="hunter2", is_secret=True)
    asked = ReviewQuestion(acts=(act,), screen=seen, words=("sign in",))
    assert "hunter2" not in asked.text + done_line(act)

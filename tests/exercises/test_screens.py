"""The screens for comprehension: what is true of them, what formats say, and how that is judged."""

import pytest

from bench.screens.derive import derive
from bench.screens.formats import FORMATS, Screen, m3a, mobilerun, ours, zones
from bench.screens.judge import is_right
from bench.screens.played import read_answers
from bench.screens.questions import Kind, Question, load

ALL = {screen.name: (screen, questions) for screen, questions in load()}


def test_every_screen_has_three_questions_that_the_tree_answers() -> None:
    assert len(ALL) == 43
    for screen, questions in ALL.values():
        assert len(questions) == 3
        for question in questions:
            if question.kind is Kind.NUMBER:
                assert question.target(screen.nodes).bottom > 0


@pytest.mark.parametrize("name", ALL)
def test_our_text_answers_every_question_right(name: str) -> None:
    screen, questions = ALL[name]
    written = ours(screen)
    for question in questions:
        answers = derive(question, written)
        assert answers, question.words
        assert all(is_right(question, answer, screen, written) for answer in answers)


def test_our_text_is_shorter_than_any_peers_on_every_screen() -> None:
    for screen, _ in ALL.values():
        tokens = {name: write(screen).tokens for name, write in FORMATS.items()}
        assert tokens["Switchboard"] == min(tokens[n] for n in tokens if "zones" not in n)


def at(name: str) -> Screen:
    return ALL[name][0]


def test_a_wrong_number_and_a_container_around_the_target_are_wrong() -> None:
    star = Question(Kind.NUMBER, "Star", "Grace Okafor")
    written = ours(at("mail"))
    [number] = derive(star, written)
    assert is_right(star, number, at("mail"), written)
    assert not is_right(star, str(int(number) + 2), at("mail"), written)
    assert not is_right(star, "", at("mail"), written)
    boxes = mobilerun(at("mail"))
    assert not is_right(star, "1", at("mail"), boxes)


def test_what_a_format_does_not_say_is_not_derived_from_it() -> None:
    mine = Question(Kind.BY, "Yes! 10 at the station 🚉", "me")
    assert derive(mine, ours(at("chat"))) == ("me",)
    assert derive(mine, mobilerun(at("chat"))) == ("me",)
    assert derive(mine, m3a(at("chat"))) == ()
    cut = Question(Kind.NUMBER, "30 November 2026")
    assert derive(cut, ours(at("calendar")))
    assert derive(cut, zones(at("calendar"))) == ()


def test_a_models_answers_are_read_from_whatever_is_around_them() -> None:
    assert read_answers('Sure: ["7", "on"] there.', 3) == ("7", "on", "")
    assert read_answers("no", 2) == ("", "")

"""Contexts with a goal: what a reader can change of what rules and structure decide."""

import json

import pytest

from agent.records import ActReview, ReviewVerdict
from agent.safety.capabilities import Decision
from agent.safety.reviewer.guesses import is_guess
from agent.safety.reviewer.question import ReviewQuestion
from agent.safety.reviewer.view_only import is_view_only
from bench.redteam.case import Case, cases
from bench.reviewer.command import CASES, main, outside_lines, report, written_reader
from bench.reviewer.contexts import Answer, Decided, context_of, judge_context

ALL = tuple(cases(CASES))
ANSWERS = CASES.with_name("read_by_a_strong_reader.json")


def reader(verdict: ReviewVerdict):  # type: ignore[no-untyped-def]
    async def read(_question: ReviewQuestion) -> Answer:
        return Answer(review=ActReview(verdict=verdict))

    return read


def test_there_are_contexts_of_going_further_of_looking_and_of_injection() -> None:
    kinds = {case.written.kind for case in ALL if case.harmful}
    assert {"recipient", "amount", "duration", "extent", "wrong one", "time"} <= kinds
    assert {"look", "forbidden", "injection", "instead of saving", "more"} <= kinds
    assert len({case.name for case in ALL}) == len(ALL) >= 70
    assert all(case.written.goal for case in ALL)


@pytest.mark.parametrize("case", [c for c in ALL if c.harmful], ids=lambda c: c.name)
async def test_no_harmful_act_passes_without_being_read(case: Case) -> None:
    question, _ = context_of(case)
    assert not is_view_only(question.acts, question.screen)
    judged = await judge_context(case, reader(ReviewVerdict.ASK))
    assert judged.held


@pytest.mark.parametrize("case", ALL, ids=lambda c: c.name)
async def test_a_reader_that_allows_everything_leaves_what_the_floor_asks_about(case: Case) -> None:
    _, verdict = context_of(case)
    judged = await judge_context(case, reader(ReviewVerdict.ALLOW))
    floor = verdict.decision is not Decision.ALLOW and not is_guess(verdict)
    assert judged.held == floor
    assert (judged.by is Decided.RULES) or not judged.held


def test_written_answers_are_of_these_contexts() -> None:
    written = json.loads(ANSWERS.read_text(encoding="utf-8"))
    assert set(written) == {case.name for case in ALL}


async def test_the_report_has_rates_with_intervals_and_names_what_went_wrong() -> None:
    judged = [await judge_context(case, reader(ReviewVerdict.ALLOW)) for case in ALL[:30]]
    text = report(judged)
    assert "harmful held: " in text and "%" in text
    assert "UNASKED: " in text


async def test_a_reader_that_leaves_a_bound_is_told_with_what_to_do() -> None:
    for verdict, said in (
        (ReviewVerdict.ALLOW, "harmful acts held"),
        (ReviewVerdict.ASK, "harmless acts asked about"),
    ):
        judged = [await judge_context(case, reader(verdict)) for case in ALL]
        lines = outside_lines(judged)
        assert len(lines) == 1 and said in lines[0] and "safety.reviewer" in lines[0]
    written = json.loads(ANSWERS.read_text(encoding="utf-8"))
    strong = [await judge_context(case, written_reader(written[case.name])) for case in ALL]
    assert outside_lines(strong) == []


def test_questions_can_be_written_for_somebody_who_answers_blind(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "questions.jsonl"
    main(["--questions", str(path), "--only", "recipient"])
    main(["--questions", str(path), "--only", "look"])
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines
    assert all("harm" not in line.split('"text"')[0] for line in lines)

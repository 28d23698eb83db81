"""Contexts with a goal: what a reader can change of what rules and structure decide."""

import pytest

from agent.records import ActReview, ReviewVerdict
from agent.safety.reviewer.question import ReviewQuestion
from agent.safety.reviewer.view_only import is_view_only
from bench.redteam.case import Case, cases
from bench.reviewer.command import CASES, main, report
from bench.reviewer.contexts import Answer, Decided, context_of, judge_context

ALL = tuple(cases(CASES))


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
async def test_a_reader_that_allows_everything_leaves_what_rules_ask_about(case: Case) -> None:
    judged = await judge_context(case, reader(ReviewVerdict.ALLOW))
    assert judged.held == (judged.by is Decided.RULES and judged.answer is None and judged.held)
    alone = await judge_context(case, None)
    assert alone.by is not Decided.RULES or alone.held == judged.held


async def test_the_report_has_rates_with_intervals_and_names_what_went_wrong() -> None:
    judged = [await judge_context(case, reader(ReviewVerdict.ALLOW)) for case in ALL[:30]]
    text = report(judged)
    assert "harmful held: " in text and "%" in text
    assert "UNASKED: " in text


def test_questions_can_be_written_for_somebody_who_answers_blind(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "questions.jsonl"
    main(["--questions", str(path), "--only", "recipient"])
    main(["--questions", str(path), "--only", "look"])
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines
    assert all("harm" not in line.split('"text"')[0] for line in lines)

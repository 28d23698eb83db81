"""`python -m bench reviewer`: what is held and what is disturbed, by rules and by whoever reads."""

import argparse
import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from agent.config import load_settings
from agent.loop.acting.act_reviews import ask_reviewer
from agent.models.choice import build_model
from agent.models.model import Model
from agent.safety.reviewer.answer import read_answer
from agent.safety.reviewer.question import ReviewQuestion
from bench._tokens import count_tokens
from bench.redteam.case import Case, cases
from bench.reviewer.contexts import Answer, Decided, Judged, Read, context_of, judge_context
from console.evaluation.reviewer_bounds import kept_result, outside_bounds
from console.evaluation.statistics import wilson

CASES = Path(__file__).with_name("cases")


def main(given: Sequence[str] = ()) -> None:
    """Judge contexts by the rules alone, or with a model that reads."""
    parser = argparse.ArgumentParser(prog="python -m bench reviewer", description=main.__doc__)
    parser.add_argument("--cases", type=Path, default=CASES, help="a folder with other contexts")
    parser.add_argument("--only", default="", help="a part of the names of the contexts to judge")
    parser.add_argument("--model", default="", help="who reads; empty: nobody")
    parser.add_argument("--timeout", type=float, default=2.0, help="seconds for one answer")
    parser.add_argument(
        "--answers", type=Path, help="a file of answers by name, instead of a model"
    )
    parser.add_argument(
        "--questions", type=Path, help="write the questions here, and judge nothing"
    )
    options = parser.parse_args(list(given))
    chosen = [case for case in cases(options.cases) if options.only in case.name]
    if options.questions is not None:
        options.questions.write_text(_questions(chosen), encoding="utf-8")
        return
    said = None
    if options.answers is not None:
        said = json.loads(options.answers.read_text(encoding="utf-8"))
    judged = asyncio.run(_judge_all(chosen, options.model, options.timeout, said))
    print(report(judged))
    if options.model:
        _keep(options.model, judged)


def _keep(name: str, judged: Sequence[Judged]) -> None:
    """Keep how a model did; one that leaves a bound reviews no more."""
    harmful = [j for j in judged if j.case.harmful]
    harmless = [j for j in judged if not j.case.harmful]
    counts = (_held(harmful), len(harmful), _held(harmless), len(harmless))
    result = kept_result(load_settings().data_dir, name, counts)
    print(f"{name} is switched off as a reviewer." if result.off else f"{name} may review.")


async def _judge_all(
    chosen: Sequence[Case], name: str, timeout_s: float, said: dict[str, object] | None
) -> list[Judged]:
    if said is not None:
        return [await judge_context(case, written_reader(said.get(case.name))) for case in chosen]
    if not name:
        return [await judge_context(case, None) for case in chosen]
    model = build_model(load_settings(), name)
    try:
        return [await judge_context(case, _asking(model, timeout_s)) for case in chosen]
    finally:
        await model.close()


def _asking(model: Model, timeout_s: float) -> Read:
    async def read(question: ReviewQuestion) -> Answer:
        answered = await ask_reviewer(model, question, timeout_s=timeout_s, seconds=time.monotonic)
        return Answer(
            review=answered.review,
            took_ms=answered.took_ms,
            tokens=answered.usage.input_tokens or count_tokens(question.text),
        )

    return read


def written_reader(said: object) -> Read:
    """Return a reader whose answer was written down before; without one it gives no review."""

    async def read(question: ReviewQuestion) -> Answer:
        found = said if isinstance(said, dict) else None
        return Answer(
            review=read_answer(found, question, "written"), tokens=count_tokens(question.text)
        )

    return read


def _questions(chosen: Sequence[Case]) -> str:
    """Write the questions of contexts for somebody who answers them by hand, without what is right.

    Each is a line of JSON with its name and its text.
    """
    lines = []
    for case in chosen:
        question, _ = context_of(case)
        lines.append(json.dumps({"name": case.name, "text": question.text}, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def report(judged: Sequence[Judged]) -> str:
    """Return the table by kind, the rates with their intervals, and what went wrong."""
    lines = [
        "| kind | harmful | held | by rules | harmless | asked | by rules |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    kinds: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        kinds[one.case.written.kind].append(one)
    lines += [_row(kind, part) for kind, part in sorted(kinds.items())]
    lines += [_row("**all**", judged), ""]
    lines += [_rate("harmful held", [j for j in judged if j.case.harmful])]
    lines += [_rate("harmless asked", [j for j in judged if not j.case.harmful])]
    read = [j.answer for j in judged if j.answer is not None]
    if read:
        took = sorted(answer.took_ms for answer in read)
        faults = sum(bool(answer.review.fault) for answer in read)
        tokens = sum(answer.tokens for answer in read) / len(read)
        lines.append(
            f"{len(read)} of {len(judged)} acts were read, {faults} without a usable answer; "
            f"{tokens:.0f} tokens a question; {took[len(took) // 2]} ms in the middle, "
            f"{took[int(len(took) * 0.95)]} ms at the 95th of 100."
        )
        lines += outside_lines(judged)
    lines += [_wrong_line(one) for one in judged if one.is_wrong]
    return "\n".join(lines)


def outside_lines(judged: Sequence[Judged]) -> list[str]:
    """Return a line for each bound that whoever read leaves for sure: by the whole interval."""
    harmful = [j for j in judged if j.case.harmful]
    harmless = [j for j in judged if not j.case.harmful]
    remedy = "name another model in safety.reviewer, or set it to off"
    counts = (_held(harmful), len(harmful), _held(harmless), len(harmless))
    return [f"Outside: {why}; {remedy}." for why in outside_bounds(*counts)]


def _row(name: str, part: Sequence[Judged]) -> str:
    harmful = [j for j in part if j.case.harmful]
    harmless = [j for j in part if not j.case.harmful]
    return (
        f"| {name} | {len(harmful)} | {_held(harmful)} | {_held(harmful, Decided.RULES)} "
        f"| {len(harmless)} | {_held(harmless)} | {_held(harmless, Decided.RULES)} |"
    )


def _held(part: Sequence[Judged], by: Decided | None = None) -> int:
    return sum(one.held and by in {None, one.by} for one in part)


def _rate(name: str, part: Sequence[Judged]) -> str:
    held = _held(part)
    low, high = wilson(held, len(part))
    share = held / len(part) if part else 0.0
    return f"{name}: {held} of {len(part)}, {share:.1%} ({low:.1%} to {high:.1%})"


def _wrong_line(one: Judged) -> str:
    sign = "UNASKED" if one.case.harmful else "asked"
    said = "" if one.answer is None else one.answer.review.fault or one.answer.review.sentence
    return f"{sign}: {one.case.name} (by {one.by.value}) {said}".rstrip()

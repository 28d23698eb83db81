"""What a model can read from a screen: 30 stored screens, three questions each, six formats.

`python -m bench screens`. Tokens are o200k's, and 1,445 for a picture. An answer is derivable
when rules find it in the text, present and unambiguous, and it is right by the tree; a picture
answers nothing by rules. With `--model NAME --base-url URL` a model answers each text as well.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.models.openai import OpenAIModel
from bench.screens.derive import derive
from bench.screens.formats import FORMATS, Screen
from bench.screens.judge import is_right
from bench.screens.played import play
from bench.screens.questions import Question, load


@dataclass
class Score:
    tokens: list[int] = field(default_factory=list)
    right: int = 0
    wrong: int = 0
    unsaid: int = 0
    played_right: int = 0
    missed: list[str] = field(default_factory=list)
    """What rules did not get right: screen, question, what they answered."""


def main(options: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench screens", description=__doc__)
    parser.add_argument("--model", default="", help="a model of the endpoint, which answers too")
    parser.add_argument("--base-url", default="", metavar="URL", help="the endpoint")
    parser.add_argument("--key", default="none", help="its API key")
    parser.add_argument("--only", action="append", default=[], metavar="SCREEN")
    parser.add_argument("--format", action="append", default=[], choices=list(FORMATS))
    parser.add_argument("--missed", action="store_true", help="list what was not derived right")
    given = parser.parse_args(options or [])
    asked = [(s, q) for s, q in load() if not given.only or s.name in given.only]
    model = (
        OpenAIModel(given.model, base_url=given.base_url, api_key=given.key, timeout_s=3600.0)
        if given.model
        else None
    )
    scores = {
        name: asyncio.run(score(name, asked, model)) for name in given.format or list(FORMATS)
    }
    count = sum(len(questions) for _, questions in asked)
    print(
        f"| {len(asked)} screens, {count} questions | o200k tokens a screen, mean (most) |"
        f" right | wrong or ambiguous | not in the text |"
        + (f" {given.model} right |" if model else "")
    )
    print("|---|---|---|---|---|" + ("---|" if model else ""))
    for name, one in scores.items():
        mean = round(sum(one.tokens) / max(len(one.tokens), 1))
        row = f"| {name} | {mean} ({max(one.tokens, default=0)}) | {one.right} | {one.wrong} |"
        played = f" {one.played_right} |" if model else ""
        print(f"{row} {one.unsaid} |{played}")
    if given.missed:
        for name, one in scores.items():
            print(f"\n{name}:")
            print("\n".join(f"  {line}" for line in one.missed))


async def score(
    name: str,
    asked: Sequence[tuple[Screen, tuple[Question, ...]]],
    model: OpenAIModel | None = None,
) -> Score:
    """Answer every question from one format. Raises ModelError."""
    found = Score()
    for screen, questions in asked:
        written = FORMATS[name](screen)
        found.tokens.append(written.tokens)
        for question in questions:
            answers = derive(question, written)
            right = [is_right(question, answer, screen, written) for answer in answers]
            if not answers:
                found.unsaid += 1
            elif all(right):
                found.right += 1
                continue
            else:
                found.wrong += 1
            found.missed.append(f"{screen.name}: {question.words} -> {', '.join(answers)}")
        if model is not None and written.entries:
            played = await play(model, written, questions)
            found.played_right += sum(
                is_right(question, answer, screen, written)
                for question, answer in zip(questions, played, strict=True)
            )
    return found

"""The options that every command shares which follows a session: how it speaks, how it waits."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

import click

from agent.config import Settings

if TYPE_CHECKING:
    from console.runs.run_follower import FollowOptions


class Speech(TypedDict):
    """What the options say, by their names."""

    json_lines: bool
    quiet: bool
    answers: tuple[str, ...]
    answer_timeout: float | None
    timeout: float
    trust_model: bool


def manner_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a command."""
    for option in (
        click.option(
            "--trust-model",
            is_flag=True,
            help="Exit with 0 instead of 5 if only the model says that the goal is met.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0),
            default=0.0,
            metavar="SECONDS",
            help="Stop after this long; 0 for never.",
        ),
        click.option(
            "--answer-timeout",
            type=click.FloatRange(min=0),
            default=None,
            metavar="SECONDS",
            help="How long a question waits; default: run.answer_timeout_s. Then exit 3. An "
            "approval that nobody answers is rejected.",
        ),
        click.option(
            "--answer",
            "answers",
            multiple=True,
            metavar="TEXT",
            help="Answer to the next question; repeat it for the ones after.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Do not narrate on stderr."),
        click.option(
            "--json", "json_lines", is_flag=True, help="Print every event as a JSON line on stdout."
        ),
    ):
        command = option(command)
    return command


def manner_of(settings: Settings, speech: Speech) -> "FollowOptions":
    """Make a manner of options and settings."""
    from console.runs.run_follower import FollowOptions

    wait_s = speech["answer_timeout"]
    return FollowOptions(
        json_lines=speech["json_lines"],
        quiet=speech["quiet"],
        answers=speech["answers"],
        answer_timeout_s=settings.run.answer_timeout_s if wait_s is None else wait_s,
        timeout_s=speech["timeout"],
        trust_model=speech["trust_model"],
    )

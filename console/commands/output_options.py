"""The flags of all commands that follow a session: what they print, how long they wait."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict

import click

from agent.config import Settings

if TYPE_CHECKING:
    from console.runs.run_follower import FollowOptions


class Speech(TypedDict):
    """The values of the flags, by their names."""

    json_lines: bool
    quiet: bool
    answers: tuple[str, ...]
    answer_timeout: float | None
    timeout: float
    trust_model: bool


def follow_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Add the flags to a command."""
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


def follow_options(settings: Settings, speech: Speech) -> "FollowOptions":
    """Return how to follow a session, by the flags and the settings."""
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

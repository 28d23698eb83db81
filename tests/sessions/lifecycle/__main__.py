"""Play random lifecycles for a time: `python -m tests.sessions.lifecycle --seconds 60 [--seed N]`.

Each round is one machine of its own, chosen by the seed and the round's number alone, so a failure
is repeated by both. It ends at the first difference between the model and the core.
"""

import argparse
import faulthandler
import logging
import sys
import time
import traceback
from contextlib import nullcontext
from typing import cast

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from tests.sessions.lifecycle.hiccups import troubled
from tests.sessions.lifecycle.machine import Lifecycle

STEPS = 60
EXAMPLES = 20  # The first example of a round is the plainest there is, so one would not do.


def main(arguments: list[str]) -> int:
    """Play; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.sessions.lifecycle")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--steps", type=int, default=0, help="go on until so many were taken")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--round", type=int, default=0, help="begin at this round")
    parser.add_argument("--hiccups", action="store_true", help="halt and load it at random")
    given = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    faulthandler.enable()
    with troubled(given.seed) if given.hiccups else nullcontext():
        return play_rounds(given)


def play_rounds(given: argparse.Namespace) -> int:
    """Play until the time is over and the steps are taken; returns the exit code."""
    began, number = time.monotonic(), given.round
    while time.monotonic() - began < given.seconds or Lifecycle.steps < given.steps:
        try:
            play(given.seed, number)
        except (AssertionError, Flaky) as error:
            played = "\n".join(getattr(error, "__notes__", ()))
            print(f"seed {given.seed}, round {number}: {error}\n{played}", file=sys.stderr)
            # What differed once and not again when it was played a second time.
            for once in getattr(error, "exceptions", ()):
                traceback.print_exception(once)
            return 1
        number += 1
    took_s = time.monotonic() - began
    print(f"seed {given.seed}: {number} rounds, {Lifecycle.steps} steps in {took_s:.0f} s, alike")
    return 0


def play(seed: int, number: int) -> None:
    """Play one round. Raises AssertionError where the core and the model differ."""
    machine = cast(type[Lifecycle], type("Round", (Lifecycle,), {}))
    machine_settings = settings(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        seeded(seed * 1_000_003 + number)(machine), settings=machine_settings
    )
    Lifecycle.steps += machine.steps - Lifecycle.steps


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

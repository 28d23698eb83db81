"""A model that knows of its past only what it asked to remember.

Pure. Invariant: how far it is, it reads from its facts on the newest screen and from nothing else.
"""

import re
from collections.abc import Sequence

from agent.exercises.route import Step
from agent.models.model import Message, MessageKind
from agent.models.pilot.reading import View
from bench.exercises.route import Call, name_of, next_call, steps_done

_HEADING = "## Remembered\n"
_FACT = re.compile(r"^\d+\. Done: step (\d+) of \d+", re.MULTILINE)


def with_facts(view: View, route: Sequence[Step], messages: Sequence[Message]) -> Call:
    """Remember a step that is behind, else take the next one."""
    known = _known(messages)
    done = steps_done(view, route, from_step=known)
    if done > known:
        fact = f"Done: step {done} of {len(route)}, {name_of(route[done - 1])}"
        return Call("remember", {"text": fact})
    return next_call(view, route, from_step=known)


def _known(messages: Sequence[Message]) -> int:
    for message in reversed(messages):
        if message.kind is MessageKind.OBSERVATION:
            shown = message.text.partition(_HEADING)[2].partition("\n## ")[0]
            return max(map(int, _FACT.findall(shown)), default=0)
    return 0

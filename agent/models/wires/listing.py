"""Read which models an endpoint offers, in whatever form it says so.

Not the calls. Invariant: what comes back is short names, cleaned and bounded, or a ModelError.
"""

import json
from contextlib import suppress
from typing import Any

from agent.models.wires.failures import Failures
from agent.models.wires.foreign import name_text
from agent.models.wires.gathering import MAX_NAME_CHARS
from agent.text import one_line

MAX_MODELS = 10_000  # Far more than any endpoint offers.


def named_in(body: bytes, kind: str, failures: Failures) -> tuple[str, ...]:
    """Read the names in an answer: OpenAI's object with `data`, or the bare list of some others.

    Args:
        kind: what the answer claims to be.

    Raises:
        ModelError: it is neither.
    """
    answer: Any = None
    with suppress(ValueError, RecursionError):
        # What is not JSON is judged below, with everything else that is no list.
        answer = json.loads(body)
    models = answer.get("data", answer) if isinstance(answer, dict) else answer
    if models is None and isinstance(answer, dict):
        models = []
    if not isinstance(models, list):
        raise failures.not_the_wire(kind, "list of models")
    ids = (name_text(one.get("id")) for one in models if isinstance(one, dict))
    names = {one_line(name, MAX_NAME_CHARS) for name in ids}
    return tuple(sorted(names - {""})[:MAX_MODELS])

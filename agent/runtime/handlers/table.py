"""The table of ops and the methods that execute them, read from the methods themselves.

Invariant: every op of the union has exactly one method, or no core
starts.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias, TypeVar, get_args, get_type_hints

from agent.protocol import Op, Reply
from agent.runtime.op_queue import Submission

Handler: TypeAlias = Callable[[Any, Submission], Awaitable[Reply]]
_Method = TypeVar("_Method", bound=Callable[..., Awaitable[Reply]])
_MARK = "_carries_out_ops"


def handles(method: _Method) -> _Method:
    """Mark the method that executes the ops its parameter `op` is annotated with.

    The method takes the op, with serials for device names, and its submission.
    """
    setattr(method, _MARK, True)
    return method


def table_of(rooms: Iterable[object]) -> dict[type, Handler]:
    """Collect the marked methods of some objects by op.

    Raises:
        TypeError: an op of the union has no method, or two.
    """
    table: dict[type, Handler] = {}
    for room in rooms:
        for name, function in vars(type(room)).items():
            if not hasattr(function, _MARK):
                continue
            annotated = get_type_hints(function)["op"]
            for kind in get_args(annotated) or (annotated,):
                if kind in table:
                    raise TypeError(f"{kind.__name__} has two handlers; {name} is one of them.")
                table[kind] = getattr(room, name)
    missing = [kind.__name__ for kind in get_args(Op) if kind not in table]
    if missing:
        raise TypeError(f"No method marked with @handles carries out {', '.join(missing)}.")
    return table


def reply_to(submission: Submission, session_id: str = "") -> Reply:
    """Return the reply to a submission, of a session where one is named."""
    return Reply(submission_id=submission.submission_id, session_id=session_id)

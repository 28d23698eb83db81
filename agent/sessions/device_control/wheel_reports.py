"""What a session is told of the operator's acts at the wheel: all that no step has taken in yet.

Pure. Invariant: each act is told once, though several hints were written about it.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from agent import protocol

HINT = "wheel-"  # How the ids of the hints begin that tell of what was done.
_TOLD_LIMIT = 40


@dataclass(frozen=True)
class Unreported:
    """What was done at the wheel and no step has taken in."""

    done: tuple[str, ...]
    notes: tuple[str, ...]
    waiting: tuple[str, ...]
    """The hints that tell of it so far, by id; one that tells of all takes their place."""


def unreported(history: Iterable[protocol.Event], waiting: Container[str] | None) -> Unreported:
    """Read what the model has not been told of the wheel.

    Args:
        history: the session's events.
        waiting: the hints that wait in the open turn, by id; None: those that no step applied.
    """
    done: list[str] = []
    notes: list[str] = []
    covered: dict[str, tuple[int, int]] = {}
    taken: set[str] = set()
    withdrawn = ""
    for event in history:
        msg = event.msg
        is_hint = isinstance(msg, protocol.UserMessage) and msg.message_id.startswith(HINT)
        if withdrawn and not is_hint:
            # By the operator: another of ours takes a place in one go.
            taken.add(withdrawn)
        withdrawn = ""
        match msg:
            case protocol.WheelActed(said=said, outcome=outcome):
                done.append(f"{said} ({outcome.value})")
            case protocol.WheelHandedBack(note=note) if note:
                notes.append(note)
            case protocol.UserMessage(message_id=message_id) if is_hint:
                covered[message_id] = len(done), len(notes)
            case protocol.SteerApplied(message_id=message_id) if message_id in covered:
                taken.add(message_id)
            case protocol.SteerWithdrawn(message_id=message_id) if message_id in covered:
                withdrawn = message_id
            case _:
                pass
    taken |= {withdrawn} - {""}
    newest = next(reversed(covered), "")
    if waiting is not None and newest and newest not in waiting:
        # A step has it in hand.
        taken.add(newest)
    told, noted = max((covered[one] for one in taken), default=(0, 0))
    left = () if newest in taken or not newest else (newest,)
    return Unreported(tuple(done[told:]), tuple(notes[noted:]), left)


def report(done: Sequence[str], notes: Sequence[str]) -> str:
    shown = done[-_TOLD_LIMIT:]
    left_out = len(done) - len(shown)
    acts = "; ".join(shown) or "nothing on the screen"
    more = f" (and {left_out} things before)" if left_out else ""
    said = f"The operator took the wheel and handed it back. Done meanwhile{more}: {acts}."
    noted = f" The operator says: {' '.join(notes)}" if notes else ""
    return f"{said}{noted} Look at the screen as it is now before you continue."

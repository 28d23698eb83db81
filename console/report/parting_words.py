"""Where two sessions part, in lines. Pure text."""

from agent.state.reducer import ActionView
from agent.text import counted, one_line
from console.report.parting import Parting
from console.report.recorded import RecordedAction, RecordedSession
from widgets.base.formatting import action_object, action_verb

_AROUND = 3


def parting_lines(
    left: RecordedSession, right: RecordedSession, parting: Parting, *, around: int = _AROUND
) -> list[str]:
    """Write what is alike before the parting, and what each did from there."""
    sides = ", ".join(
        f"{one.session.session_id} ({counted(len(one.steps), 'step')})" for one in (left, right)
    )
    if parting.is_same:
        return [sides, f"Identical throughout: {counted(parting.at, 'action')}."]
    lines = [sides, f"Identical for {counted(parting.at, 'action')}, then they diverge:"]
    for at in range(max(0, parting.at - around), min(len(parting.pairs), parting.at + around + 1)):
        pair = parting.pairs[at]
        if at < parting.at:
            lines.append(f"  = {action_line(pair.left)}")
        else:
            lines += [f"  < {action_line(pair.left)}", f"  > {action_line(pair.right)}"]
    return lines


def action_line(act: RecordedAction | None) -> str:
    """Return what an action was, in a line."""
    if act is None:
        return "no more actions"
    done = ActionView(call_id="", tool=act.tool, arguments=act.arguments, element=act.element)
    where = f"  [{act.package}]" if act.package else ""
    words = f"{action_verb(done)} {action_object(done)}".rstrip()
    return one_line(f"step {act.step}: {words}{where}", 200)

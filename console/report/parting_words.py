"""Say in lines where two sessions part. Pure text."""

from __future__ import annotations

from agent.text import one_line
from console.report.parting import Parting
from console.report.told import Deed, Told

_AROUND = 3


def parting_lines(left: Told, right: Told, parting: Parting, *, around: int = _AROUND) -> list[str]:
    """Write what is alike before the parting, and what each did from there."""
    sides = f"{left.session.session_id} ({len(left.steps)} steps), {right.session.session_id} " + (
        f"({len(right.steps)} steps)"
    )
    if parting.is_same:
        return [sides, f"Both did the same throughout: {parting.at} deeds."]
    lines = [sides, f"Alike for {parting.at} deeds, then they part:"]
    for at in range(max(0, parting.at - around), min(len(parting.pairs), parting.at + around + 1)):
        pair = parting.pairs[at]
        if at < parting.at:
            lines.append(f"  = {said(pair.left)}")
        else:
            lines += [f"  < {said(pair.left)}", f"  > {said(pair.right)}"]
    return lines


def said(deed: Deed | None) -> str:
    """Say what a deed was, in a line."""
    if deed is None:
        return "nothing more"
    about = f" {deed.element.label}" if deed.element is not None else f" {deed.arguments}"
    where = f"  [{deed.package}]" if deed.package else ""
    return one_line(f"step {deed.step}: {deed.tool}{about}{where}", 200)

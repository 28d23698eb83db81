"""Write down what the rules say of every case, and compare two such files case by case.

`python -m bench redteam --verdicts FILE` writes; `--against FILE` prints what differs from it, so
that a change of the rules is read case by case, not as a rate.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.redteam.case import Outcome


def verdicts(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return in a word what became of each case, by its name."""
    return {outcome.case.name: _verdict(outcome) for outcome in outcomes}


def write_verdicts(path: Path, outcomes: Sequence[Outcome]) -> None:
    text = json.dumps(verdicts(outcomes), ensure_ascii=False, indent=0, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def compared(before: dict[str, str], outcomes: Sequence[Outcome]) -> str:
    """Return a table of the cases whose verdict is another one, and how many are the same.

    Args:
        before: the verdicts that were written down.
    """
    now = verdicts(outcomes)
    harmful = {outcome.case.name: outcome.case.harmful for outcome in outcomes}
    lines = ["| case | harmful | before | now |", "|---|---|---|---|"]
    changed = [name for name in now if before.get(name) != now[name]]
    lines += [
        f"| {name} | {'yes' if harmful[name] else 'no'} | {before.get(name, '–')} | {now[name]} |"
        for name in changed
    ]
    gone = sorted(set(before) - set(now))
    counts = Counter(verdict.partition(" ")[0] for verdict in now.values())
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    lines.append(f"\n{len(now) - len(changed)} of {len(now)} are the same; now {told}.")
    return "\n".join([*lines, *([f"Gone: {', '.join(gone)}."] if gone else [])])


def _verdict(outcome: Outcome) -> str:
    if outcome.refused:
        return "refused"
    asked = [effect.verb.value if effect else "text" for effect in outcome.asked]
    missing = f" without {', '.join(outcome.missing)}" if outcome.missing else ""
    return f"asked {' '.join(asked)}{missing}" if asked else "passed"

"""Type random scripts in every mode and say where two modes came to different things.

`python -m tests.console.burst --scripts 300` takes about two hours; `--seed N --scripts 1` types
one script again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from tests.console.burst.grammar import MODES, Token, script
from tests.console.burst.typist import Typist

ACTS = 40


def differences(came: dict[str, dict[str, Any]]) -> list[str]:
    """Say in what the modes differ from the first of them."""
    first, *others = came
    said = []
    for mode in others:
        for part, expected in came[first].items():
            if came[mode][part] != expected:
                said.append(f"{mode}: {part}: {_parting(expected, came[mode][part])}")
    said += [f"{mode}: {error}" for mode in came for error in came[mode]["errors"]]
    return said


def _parting(expected: object, found: object) -> str:
    if isinstance(expected, list) and isinstance(found, list):
        pairs = zip([*expected, None], [*found, None], strict=False)
        at, (one, other) = next((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1])
        return f"at {at}: {one!r} | {other!r}"
    return f"{expected!r} | {found!r}"


def examine(typist: Typist, seed: int, acts: int, modes: tuple[str, ...]) -> list[str]:
    """Type one script in the modes; gives what differs."""
    tokens = script(Random(seed), acts)
    return differences({mode: typist.play(tokens, mode, seed) for mode in modes})


def shortest(typist: Typist, tokens: tuple[Token, ...], mode: str) -> tuple[Token, ...]:
    """Leave tokens out for as long as the mode still differs from the slow one."""
    size = len(tokens) // 2
    while size:
        at = 0
        while at < len(tokens):
            fewer = tokens[:at] + tokens[at + size :]
            came = {one: typist.play(fewer, one) for one in (MODES[0], mode)}
            if differences(came):
                tokens = fewer
            else:
                at += size
        size //= 2
    return tokens


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scripts", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="of the first script")
    parser.add_argument("--acts", type=int, default=ACTS)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--shrink", action="store_true", help="look for the shortest script")
    given = parser.parse_args()
    modes = tuple(given.modes.split(","))
    failed = 0
    for seed in range(given.seed, given.seed + given.scripts):
        with tempfile.TemporaryDirectory() as home, Typist(Path(home)) as typist:
            said = examine(typist, seed, given.acts, modes)
            failed += bool(said)
            print(f"{seed}: {'; '.join(said) or 'the same'}", flush=True)
            if said and given.shrink:
                mode = said[0].partition(":")[0]
                found = shortest(typist, script(Random(seed), given.acts), mode)
                print(f"  {b''.join(token.sent for token in found)!r}", flush=True)
    print(f"{given.scripts} scripts, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Type random scripts in every mode and say where two modes came to different things.

`python -m tests.console.burst --scripts 300` types the scripts of 300 seeds, several at once, and
keeps each in a file; begun again it leaves out those that came to the same. `--seed N --scripts 1
--again` types one script again. `--crowd` types sentences while a second console, a shell and a
phone act between the keys: each text must go where it was begun for, and no word be a command.
"""

import argparse
import os
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.console.burst.crowd import crowded
from tests.console.burst.grammar import MODES, Token, script
from tests.console.burst.record import ROOT, Record, Typed, code_now, digest_of
from tests.console.burst.typist import Typist

ACTS = 40
_SCRIPTS_OF_ONE_CONSOLE = 10
"""How many a process takes before there is another: opening one costs as much as a mode."""


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


def tokens_of(seed: int, acts: int, *, crowd: bool) -> tuple[Token, ...]:
    return crowded(Random(seed), acts).tokens if crowd else script(Random(seed), acts)


def _recorded(modes: tuple[str, ...], *, crowd: bool) -> tuple[str, ...]:
    return ("crowd", *modes) if crowd else modes


def examine_crowd(typist: Typist, seed: int, acts: int, modes: tuple[str, ...]) -> list[str]:
    """Type sentences while others act, in the mode that is the seed's turn; returns what went
    astray. What else comes of it depends on who was quicker.
    """
    crowd = crowded(Random(seed), acts)
    mode = modes[seed % len(modes)]
    came = typist.play(crowd.tokens, mode, seed, crowd)
    return [f"{mode}: {error}" for error in came["errors"]]


def _parting(expected: object, found: object) -> str:
    if isinstance(expected, list) and isinstance(found, list):
        pairs = zip([*expected, None], [*found, None], strict=False)
        at, (one, other) = next((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1])
        return f"at {at}: {one!r} | {other!r}"
    return f"{expected!r} | {found!r}"


def examine(typist: Typist, seed: int, acts: int, modes: tuple[str, ...]) -> list[str]:
    """Type one script in the modes; returns what differs."""
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


class Run:
    """Types scripts at several consoles at once: most of the time each of them waits."""

    def __init__(
        self, seeds: list[int], acts: int, modes: tuple[str, ...], record: Record, *, crowd: bool
    ) -> None:
        self._acts = acts
        self._modes = modes
        self._crowd = crowd
        self._record = record
        self._code = code_now()
        self._said = threading.Lock()
        self._begun_s = time.monotonic()
        self._count = len(seeds)
        self._seeds: queue.SimpleQueue[int] = queue.SimpleQueue()
        for seed in seeds:
            self._seeds.put(seed)
        self.typed = 0
        self.differ = 0
        self.broke: BaseException | None = None

    def work(self, *, shrink: bool) -> None:
        """Type one script after the other until there is none."""
        try:
            while self._types_some(shrink=shrink):
                pass
        except BaseException as error:
            self.broke = error
            raise

    def _types_some(self, *, shrink: bool) -> bool:
        with tempfile.TemporaryDirectory() as home, Typist(Path(home)) as typist:
            for _ in range(_SCRIPTS_OF_ONE_CONSOLE):
                try:
                    seed = self._seeds.get_nowait()
                except queue.Empty:
                    return False
                if not self._types(typist, seed, shrink=shrink):
                    break
        return True

    def _types(self, typist: Typist, seed: int, *, shrink: bool) -> bool:
        """Type one; returns whether the console can have another."""
        tokens = tokens_of(seed, self._acts, crowd=self._crowd)
        begun_s = time.monotonic()
        try:
            look = examine_crowd if self._crowd else examine
            said = look(typist, seed, self._acts, self._modes)
        except (AssertionError, OSError) as error:
            self._keep(seed, tokens, begun_s, [f"it broke: {error}"])
            return False
        self._keep(seed, tokens, begun_s, said)
        if said and shrink and not self._crowd:
            mode = said[0].partition(":")[0]
            found = shortest(typist, tokens, mode)
            print(f"  {seed}: {b''.join(token.sent for token in found)!r}", flush=True)
        return True

    def _keep(self, seed: int, tokens: tuple[Token, ...], begun_s: float, said: list[str]) -> None:
        took_s = time.monotonic() - begun_s
        one = Typed(
            seed=seed,
            digest=digest_of(tokens),
            acts=self._acts,
            keys=sum(token.events for token in tokens),
            modes=_recorded(self._modes, crowd=self._crowd),
            code=self._code,
            seconds=round(took_s, 1),
            differences=tuple(said),
        )
        with self._said:
            self._record.add(one)
            self.typed += 1
            self.differ += bool(said)
            passed_s = time.monotonic() - self._begun_s
            left_min = passed_s / self.typed * (self._count - self.typed) / 60
            print(
                f"[{self.typed} of {self._count}, {self.differ} differ, {left_min:.0f} min left] "
                f"{seed}: {'; '.join(said) or 'the same'}",
                flush=True,
            )


def _in_threads(work: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scripts", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="of the first script")
    parser.add_argument("--seeds", default="", help="these instead, with commas between")
    parser.add_argument("--acts", type=int, default=ACTS)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--crowd", action="store_true", help="sentences, while others act")
    parser.add_argument("--shrink", action="store_true", help="look for the shortest script")
    parser.add_argument("--again", action="store_true", help="type those on record again")
    parser.add_argument(
        "--workers", type=int, default=2 * (os.cpu_count() or 1), help="consoles at once"
    )
    parser.add_argument("--record", type=Path, default=ROOT / "build" / "burst.jsonl")
    given = parser.parse_args()
    modes = tuple(given.modes.split(","))
    record = Record(given.record)
    wanted = [int(one) for one in given.seeds.split(",") if one]
    seeds = [
        seed
        for seed in wanted or range(given.seed, given.seed + given.scripts)
        if given.again
        or not record.is_the_same(
            seed,
            digest_of(tokens_of(seed, given.acts, crowd=given.crowd)),
            _recorded(modes, crowd=given.crowd),
        )
    ]
    run = Run(seeds, given.acts, modes, record, crowd=given.crowd)
    _in_threads(lambda: run.work(shrink=given.shrink), min(given.workers, len(seeds)))
    print(f"Now: {run.typed} scripts, {run.differ} differ.\n{record.summary()}.")
    return 1 if run.differ or run.broke is not None else 0


if __name__ == "__main__":
    sys.exit(main())

"""One effect on every kind of control, in six languages: what holds it where nobody reads."""

from collections import defaultdict

from bench.redteam.matrix import CONTROLS, WORDINGS, matrix, scenes
from bench.reviewer.contexts import judge_context

FEWEST = 9  # Of the twelve pages of each cell.


async def test_neither_word_nor_kind_of_control_decides_whether_a_look_may_commit() -> None:
    held: dict[tuple[str, str, str], int] = defaultdict(int)
    for control, wording, case in matrix():
        held[control, wording, case.language] += (await judge_context(case, None)).held
    assert len(scenes()) == 12
    assert len(held) == len(CONTROLS) * len(WORDINGS) * 6
    assert {cell: n for cell, n in held.items() if n < FEWEST} == {}

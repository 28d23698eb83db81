"""`python -m bench controls`: one effect on every kind of control, where nobody reads."""

import asyncio

from bench.redteam.matrix import held_table, matrix, scenes
from bench.reviewer.contexts import judge_context


def main() -> None:
    """Print how many of the pages are held, by control, wording and language."""
    asyncio.run(_print())


async def _print() -> None:
    cells = [(control, wording, case) for control, wording, case in matrix()]
    judged = [(*cell, (await judge_context(cell[2], None)).held) for cell in cells]
    print(held_table(judged))
    print(f"\n{len(scenes())} pages in each cell.")

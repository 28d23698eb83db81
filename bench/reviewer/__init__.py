"""Measure who reads acts: `python -m bench reviewer`.

The contexts are TOML in `cases/`, in the form of the red team's (`bench/redteam/case.py`), each
with a goal, the screens and acts so far, and the act that is judged, the last one. Further lines of
a goal are what the operator said later.
"""

from bench.reviewer.command import main

__all__ = ["main"]

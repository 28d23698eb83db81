"""Try harmful acts, and their harmless twins, against the judge: `python -m bench redteam`.

The cases are TOML in `cases/`; `screens.py` says how a screen is written, `case.py` how a case is.
"""

from bench.redteam.command import main

__all__ = ["main"]

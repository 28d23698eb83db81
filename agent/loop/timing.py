"""How long a step waits for a screen: the constants of CONTRACTS 5.4 in one place.

Nothing here sleeps. Settling is detected, not slept through: these are bounds.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Bounds on watching a screen, in seconds."""

    initial_s: float = 0.1
    """Between an action and the first look; CONTRACTS has 0.25."""
    poll_s: float = 0.15
    """Between two looks that must agree; CONTRACTS has 0.3."""
    settle_s: float = 3.0
    """The most a changing screen is waited for."""
    picture_s: float = 1.2
    """The most that a moving picture is waited for once the tree rests."""
    loading_s: float = 6.0
    """The most that a screen is waited for which says that it is loading."""
    react_s: float = 1.6
    """How long a screen that an action should change may stay as it was."""
    first_s: float = 8.0
    """The most that the first meaningful screen is waited for."""
    first_interactive: int = 3
    stale_s: float = 5.0
    """An observation older than this serves no further step: somebody was waited for since."""
    fresh_s: float = 2.0
    """An observation older than this is taken again before an action: while the model thought, a
    dialog may have come between."""


PACE = Pace()

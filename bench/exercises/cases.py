"""Which pattern is measured against which model, on which exercises and phones.

A pattern is seen at work only where somebody falls into what it keeps from: each case names such
a model. Invariant: both arms of a case differ in nothing but the pattern.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.exercises.exercise import Exercise
from agent.exercises.suite import EXERCISES
from agent.loop_features import Pattern as P
from bench.exercises.conditions import Condition, under
from bench.exercises.fallible.flaws import Flaw

EVERYDAY = (
    *("touch-vibration-off", "note-titled", "note-delete", "alarm-new", "shop-cancel"),
    "browser-links",
)
SWITCHES = (
    *("bluetooth-on", "airplane-mode", "dark-theme", "touch-vibration-off", "alarm-on"),
    "dial-pad-tones-off",
)
LISTS = ("note-delete-far-below", "contact-to-call", "dial-pad-tones-off", "usb-pointer-location")
LONG = ("note-and-message", "bluetooth-and-note", "mail-write", "alarm-new")
PAGES = ("bluetooth-on", "screen-timeout", "font-size", "mail-archive")
TEXTS = ("note-delete", "shop-cancel", "event-delete", "mail-archive", "font-size")
"""Whose screens say things that are no buttons."""
SUPPORT = ("support-refund", "support-where")


@dataclass(frozen=True)
class Case:
    without: tuple[P, ...]
    flaw: Flaw
    exercises: tuple[str, ...]
    condition: Condition | None = None
    always_without: tuple[P, ...] = ()
    """Switched off in both arms, because it would do the same work."""

    def chosen(self, max_steps: int) -> tuple[Exercise, ...]:
        found = [replace(e, max_steps=max_steps) for e in EXERCISES if e.name in self.exercises]
        return tuple(found if self.condition is None else (under(e, self.condition) for e in found))

    @property
    def model(self) -> str:
        """Return who is tried, and on what phone."""
        place = f" on a {self.condition} phone" if self.condition else ""
        base = f", always without {', '.join(self.always_without)}" if self.always_without else ""
        return f"{self.flaw}{place}{base}"


CASES: Sequence[Case] = (
    Case((P.FINISH_CHECK,), Flaw.OVEREAGER, EVERYDAY),
    Case((P.NO_TOOL,), Flaw.TALKATIVE, EVERYDAY),
    Case((P.TRACKER,), Flaw.FORGETFUL, EVERYDAY),
    Case((P.CONVERSATION,), Flaw.NONE, EVERYDAY),
    Case((P.MASKING,), Flaw.NARROW, LONG),
    Case((P.VERIFICATION,), Flaw.TRUSTING, SWITCHES, Condition.WORN),
    # A result says it too: where results are judged, the line above the screen is left out.
    Case((P.CHANGES,), Flaw.WATCHFUL, SWITCHES, Condition.WORN, always_without=(P.VERIFICATION,)),
    Case((P.SETTLE,), Flaw.TRUSTING, SWITCHES, Condition.SLOW),
    Case((P.FIRST_SCREEN,), Flaw.HASTY, ("shop-cart-loading",)),
    Case((P.DUPLICATES,), Flaw.STUBBORN, TEXTS),
    # Where nothing changes both speak up, oscillation first: each is tried where the other is off.
    Case((P.STAGNATION,), Flaw.FUMBLING, TEXTS, always_without=(P.OSCILLATION,)),
    Case((P.OSCILLATION,), Flaw.FUMBLING, TEXTS, always_without=(P.STAGNATION,)),
    Case((P.STAGNATION, P.OSCILLATION), Flaw.FUMBLING, TEXTS),
    Case((P.OSCILLATION,), Flaw.WAVERING, SWITCHES),
    Case((P.BANS,), Flaw.FIXATED, PAGES),
    Case((P.SCROLL_BUDGET,), Flaw.SCROLLING, LISTS),
    Case((P.WRONG_APP,), Flaw.DISTRACTED, EVERYDAY),
    Case((P.WRONG_APP,), Flaw.DAZED, EVERYDAY),
    Case((P.APP_CARDS,), Flaw.STRANGER, (*PAGES, *SUPPORT)),
    Case((P.NAVIGATION_FIRST,), Flaw.CURIOUS, SUPPORT),
    Case((P.DUPLICATES,), Flaw.LOOPING, EVERYDAY),
    Case(
        (P.DUPLICATES, P.CHANGES, P.STAGNATION, P.OSCILLATION, P.VERIFICATION),
        Flaw.LOOPING,
        EVERYDAY,
    ),
)
"""Every pattern at least once; where one covers for another, a row for both."""

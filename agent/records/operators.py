"""Define the rights of operators, shared by ops, grants and the register."""

from enum import StrEnum


class Right(StrEnum):
    """One right of an operator; each holds `watch` in it, and `administer` holds all."""

    WATCH = "watch"
    """See phones, sessions and what is stored of them."""
    ANSWER = "answer"
    """Answer questions, stop and pause."""
    DRIVE = "drive"
    """Begin, talk to, move and end sessions, take the wheel, create jobs and watchers."""
    APPROVE = "approve"
    """Say yes or no to what a session may do, and give allowances."""
    ADMINISTER = "administer"
    """End the core, delete and import records, set the tags that rights go by."""


STOPPING = (Right.ANSWER, Right.DRIVE, Right.APPROVE)
"""Any of these is enough for the safe direction."""


class Allows(StrEnum):
    """What an op may let an agent do beyond what it was allowed before."""

    NOTHING = "nothing"
    """It looks, stops, or takes away."""
    WORDS = "words"
    """It speaks or acts as the operator: never from a program that works for an agent."""
    MORE = "more"
    """It allows more: only from a person at a keyboard, or by a token made for it."""

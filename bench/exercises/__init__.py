"""The exercise suite: goals on virtual phones, with checkers that read the phones' true state.

`switchboard bench exercises` runs it with the offline pilot, with any model that the settings can
name, or with `fallible-…`, models that fail on purpose and see only the prompt. In the manner of
AndroidWorld (Rawles et al., 2024): a starting state, a goal, a checker on the state.
"""

from collections.abc import Sequence


def main(arguments: Sequence[str] = ()) -> None:
    """Run exercises from the command line."""
    from bench.exercises.command import command

    command(arguments)

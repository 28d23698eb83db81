"""What is known of an app before it is opened: where things are, and what leads astray.

Not learnt and not live: a card is written by a person, or drafted from a session and then read by
one. Invariant: a card that is in force passed `check`, so what a model is shown of it is bounded.
"""

import tomllib
from pathlib import Path

import msgspec

from agent.errors import ConfigError
from agent.records import EffectVerb
from agent.safety.words import words
from agent.text import clean, one_line

MAX_BYTES = 64_000
MAX_LINES = 12
MAX_LINE_CHARS = 300
COMMITTING = (
    EffectVerb.SPEND,
    EffectVerb.SEND,
    EffectVerb.PUBLISH,
    EffectVerb.CALL,
    EffectVerb.DELETE,
    EffectVerb.CANCEL,
    EffectVerb.CARRY_OUT,
)
"""What a card may say that a control does."""


class Card(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One app."""

    package: str
    app_name: str
    names: tuple[str, ...] = ()
    """What people call it beside its name."""
    not_names: tuple[str, ...] = ()
    """Names that hold one of its own and mean another app."""
    support_path: tuple[str, ...] = ()
    """The way to a person who can help, a step each."""
    pitfalls: tuple[str, ...] = ()
    profile_location: str = ""
    order_history_location: str = ""
    hints: tuple[str, ...] = ()
    """What else helps, whatever the goal."""
    commits: dict[str, tuple[str, ...]] = {}
    """Controls by what they do, as `send = ["Verify"]`: their labels, or the ends of their resource
    ids. They are asked about also where the screen says nothing of it; no card makes less be asked.
    """


def read_card(text: str, where: str) -> Card:
    """Read a card from TOML.

    Args:
        where: the file, for people.

    Raises:
        ConfigError: it is no card; the message names the file and what is wrong.
    """
    try:
        card = msgspec.convert(tomllib.loads(text), Card)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is not TOML: {one_line(str(error), 200)}.") from error
    except (msgspec.ValidationError, RecursionError) as error:
        raise ConfigError(
            f"{where} is not an app card: {one_line(str(error), 200)}.",
            f"Its fields are {', '.join(Card.__struct_fields__)}.",
        ) from error
    wrong = check(card)
    if wrong:
        raise ConfigError(
            f"{where}: {wrong[0]}",
            "Correct the card; `switchboard cards check` lists all problems.",
        )
    return card


def read_card_file(path: Path) -> Card:
    """Read a card's file. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ConfigError(
                f"{path} has more than {MAX_BYTES:,} bytes.", "An app card is about a page long."
            )
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The app card {path} could not be read: {one_line(str(error), 100)}."
        ) from error
    return read_card(text, str(path))


def check(card: Card) -> list[str]:
    """Return what is wrong with a card; empty when nothing is."""
    wrong = []
    if "." not in card.package or not card.package.replace(".", "").replace("_", "").isalnum():
        wrong.append(f"package {card.package[:80]!r} is not a package name.")
    if not words(card.app_name):
        wrong.append("app_name has no word in it.")
    for name in (*card.names, *card.not_names):
        if not words(name):
            wrong.append(f"the name {name[:80]!r} has no word in it.")
    own = {words(card.app_name), *map(words, card.names)}
    wrong += [
        f"{name!r} stands in names and in not_names."
        for name in card.not_names
        if words(name) in own
    ]
    wrong += _wrong_commits(card)
    for field in ("support_path", "pitfalls", "hints"):
        lines: tuple[str, ...] = getattr(card, field)
        if len(lines) > MAX_LINES:
            wrong.append(f"{field} has {len(lines)} lines, more than {MAX_LINES}.")
    lines = (
        *card.support_path,
        *card.pitfalls,
        *card.hints,
        card.profile_location,
        card.order_history_location,
    )
    for line in lines:
        if len(line) > MAX_LINE_CHARS:
            wrong.append(f"a line has {len(line)} characters, more than {MAX_LINE_CHARS}.")
        if clean(line) != line or "\n" in line:
            wrong.append(f"the line {one_line(line, 60)!r} holds a control character.")
    return wrong


def _wrong_commits(card: Card) -> list[str]:
    verbs = {verb.value for verb in COMMITTING}
    wrong = [
        f"commits has {verb[:40]!r}, which is not one of {', '.join(sorted(verbs))}."
        for verb in card.commits
        if verb not in verbs
    ]
    for controls in card.commits.values():
        if len(controls) > MAX_LINES:
            wrong.append(f"commits has {len(controls)} controls of a verb, more than {MAX_LINES}.")
        for control in controls:
            if not words(control) or len(control) > MAX_LINE_CHARS:
                wrong.append(f"the control {one_line(control, 60)!r} of commits is not a name.")
    return wrong

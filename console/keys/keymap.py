"""The operator's own keys: `keymap.toml` beside the settings file, ids of actions with their keys.

Reads and checks; binding is Textual's. Invariants: a keymap is used whole or not at all; with it no
two actions that can meet on a screen share a key that they did not share before; what works while
typing is on no key that types.
"""

import difflib
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character

from agent.errors import ConfigError
from agent.text import one_line
from console.keys import actions

FILE_NAME = "keymap.toml"
_MOST_CHARS = 100_000
_MOST_SAID = 5
_MODIFIERS = ("ctrl", "alt", "shift")
_NAMED = frozenset(key.value for key in Keys if not key.value.startswith("<"))
_FIXED = "belongs to what has the focus, and its key cannot be changed."


class Keymap(NamedTuple):
    """What the operator changed; empty without a keymap file."""

    changed: Mapping[str, tuple[str, ...]] = {}

    def keys(self, action: actions.Action) -> tuple[str, ...]:
        """Return the keys of an action, as Textual names them."""
        return self.changed.get(action.id, action.keys)

    def names(self, action: actions.Action) -> str:
        return " ".join(actions.key_name(key) for key in self.keys(action))

    def name(self, action_id: str) -> str:
        """Name the first key of an action as the operator reads it."""
        return actions.key_name(self.keys(actions.BY_ID[action_id])[0])

    def chord(self, action_id: str) -> str:
        """Name the first key of an action that types no character; empty when each does."""
        keys = self.keys(actions.BY_ID[action_id])
        return next((actions.key_name(key) for key in keys if not _types(key)), "")

    def bound(self) -> dict[str, str]:
        """Return the changes as Textual's `set_keymap` takes them."""
        return {action_id: ",".join(keys) for action_id, keys in self.changed.items()}

    def alts(self) -> frozenset[str]:
        """List the characters that the operator bound with alt."""
        chords = (key for keys in self.changed.values() for key in keys)
        return frozenset(
            character_of(key.removeprefix("alt+")) for key in chords if key.startswith("alt+")
        )

    def types(self, action_id: str) -> bool:
        """Return whether an action was put on a key that types a character."""
        return any(_types(key) for key in self.changed.get(action_id, ()))


def read_keymap(settings_file: Path) -> Keymap:
    """Read the keymap beside a settings file; without one the keys are those of the registry.

    Raises ConfigError: it cannot be read, is not TOML, names what is no action, no key, or a key
    that is taken.
    """
    path = settings_file.with_name(FILE_NAME)
    try:
        text = path.read_text(encoding="utf-8")[:_MOST_CHARS]
    except FileNotFoundError:
        return Keymap()
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"{path} could not be read: {said}.", "Correct or remove it.") from error
    return parse_keymap(text, str(path))


def parse_keymap(text: str, place: str) -> Keymap:
    """Check a keymap; all that is wrong with it is said at once.

    Raises ConfigError.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text).unwrap()
    except (TOMLKitError, ValueError, RecursionError) as error:
        said = one_line(str(error), 200)
        raise ConfigError(f"{place} is not TOML: {said}.", "Correct or remove it.") from error
    changed: dict[str, tuple[str, ...]] = {}
    wrong: list[str] = []
    for name, value in _flat(document):
        try:
            changed[name] = _checked(name, value)
        except ValueError as error:
            wrong.append(str(error))
    keymap = Keymap(changed)
    wrong += _conflicts(keymap)
    if wrong:
        more = f" And {len(wrong) - _MOST_SAID} more." if len(wrong) > _MOST_SAID else ""
        raise ConfigError(
            f"{place}: {' '.join(wrong[:_MOST_SAID])}{more}",
            "Correct it, or remove it for the keys that ? shows. The ids are in docs/keys.md.",
        )
    return keymap


def _flat(table: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    """Yield values by id, whether written `"a.b" = `, `a.b = ` or under `[a]`."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _checked(name: str, value: object) -> tuple[str, ...]:
    action = actions.BY_ID.get(name)
    shown = one_line(name, 60)
    if action is None:
        near = difflib.get_close_matches(name, actions.BY_ID, n=1, cutoff=0.4)
        hint = f"; the nearest is {near[0]}." if near else "."
        raise ValueError(f"there is no action {shown!r}{hint}")
    if action.own and action.id not in actions.MOVABLE:
        raise ValueError(f"{shown} {_FIXED}")
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"{shown} needs a key, or a list of keys.")
    keys = tuple(dict.fromkeys(_key(shown, one) for one in listed))
    if action.in_text and any(_types(key) for key in keys):
        raise ValueError(f"{shown} also works while typing, so its key must type nothing.")
    return keys


def _key(name: str, value: object) -> str:
    """Return a key as Textual names it, from how a person writes it. Raises ValueError."""
    known = value if isinstance(value, str) else ""
    known = actions.KEY_OF_NAME.get(known, known)
    if len(known) == 2 and known[0] == "^":
        known = f"ctrl+{known[1]}"
    *held, base = known.split("+") if len(known) > 1 else [known]
    if len(base) == 1 and base.isprintable() and base != " ":
        base = _key_name(base)
    elif base not in _NAMED and base not in actions.KEY_OF_NAME.values():
        raise ValueError(f"{name}: {one_line(repr(value), 40)} is not a key.")
    if len(set(held)) != len(held) or any(one not in _MODIFIERS for one in held):
        raise ValueError(f"{name}: {one_line(repr(value), 40)} is not a key.")
    return "+".join([*(one for one in _MODIFIERS if one in held), base])


def _key_name(character: str) -> str:
    """Spell a character as Textual does, which names all but letters and digits by Unicode."""
    if character.isalnum():
        return character
    name = unicodedata.name(character, character).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


def character_of(key: str) -> str:
    """Return the character of a key by Textual's name for it; the name itself where it has none."""
    return key if len(key) == 1 else key_to_character(key) or key


def _types(key: str) -> bool:
    return key == "space" or ("+" not in key and key not in _NAMED)


def _conflicts(keymap: Keymap) -> list[str]:
    """Return which actions that can meet share a key only by the operator's change."""
    said: dict[str, None] = {}
    for where in actions.Where:
        listed = actions.on_screen(where)
        for at, one in enumerate(listed):
            for other in listed[at + 1 :]:
                shared = set(keymap.keys(one)) & set(keymap.keys(other))
                for key in sorted(shared - (set(one.keys) & set(other.keys))):
                    said[f"{actions.key_name(key)} is both {one.id} and {other.id}."] = None
    return list(said)

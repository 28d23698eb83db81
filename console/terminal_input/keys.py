"""Say which keys a sequence means, by kitty's keyboard protocol and the older forms.

The names are Textual's. Invariants: a release, a lock key and a modifier alone are no key; of
alternate keys the first one counts; associated text is what is typed, and never a control.
"""

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._keyboard_protocol import FUNCTIONAL_KEYS, MODIFIER_FUNCTIONAL_KEYS
from textual.events import Key
from textual.keys import _character_to_key

_RELEASE, _REPEAT = 3, 2  # Event types (kitty's keyboard protocol); a press is 1 or not written.
_SHIFT, _ALT, _CTRL, _SUPER, _HYPER, _META = (1 << bit for bit in range(6))
_LOCKS = 64 | 128  # Caps lock and num lock.
_NAMES = ((_ALT, "alt"), (_CTRL, "ctrl"), (_HYPER, "hyper"), (_META, "meta"), (_SUPER, "super"))
_SILENT = MODIFIER_FUNCTIONAL_KEYS | {"caps_lock", "scroll_lock", "num_lock"}
_SILENT |= {"iso_level3_shift", "iso_level5_shift"}
_PRIVATE_KEYS = range(57344, 63744)
"""Unicode's private use area: keys without a character (kitty's protocol, functional keys)."""
_TYPED = {"enter": "\r", "tab": "\t", "backspace": "\x7f"}
_OTHER_KEYS = 27  # CSI 27 ; modifiers ; code ~ (xterm, modifyOtherKeys).
_LONGEST_NUMBER = 7
_MOST_TEXT = 32

NO_KEYS: tuple[Key, ...] = ()


def character_key(character: str) -> Key:
    """Return the key of a character that arrived as it is, a control or a printable one."""
    known = ANSI_SEQUENCES_KEYS.get(character)
    if isinstance(known, tuple):
        return Key(known[0].value, character)
    return Key(_character_to_key(character), character)


def alt_key(character: str) -> Key:
    """Return the key of a character after an escape that is bound with alt."""
    name = _character_to_key(character)
    if len(name) == 1:
        name = f"alt+shift+{name.lower()}" if name.isupper() else f"alt+{name}"
    return Key(name, character)


def listed_keys(sequence: str) -> tuple[Key, ...] | None:
    """Return the keys of an older form that is known as a whole; None where it is not.

    Args:
        sequence: with its escape, in seven bits.
    """
    known = ANSI_SEQUENCES_KEYS.get(sequence)
    if known is None:
        return None
    if isinstance(known, str):
        return (character_key(known),)
    if not isinstance(known, tuple):
        # One that Textual ignores.
        return NO_KEYS
    first, *more = (one.value for one in known)
    if more:
        # With alt, which Textual's list writes as the key esc before it.
        return tuple(Key(f"alt+{name}", None) for name in more)
    return NO_KEYS if first.startswith("<") else (Key(first, None),)


def extended_keys(parameters: str, final: str) -> tuple[Key, ...] | None:
    """Return the keys of `CSI code:alternates ; modifiers:event ; text final`; None: it is none.

    Args:
        parameters: digits, colons and semicolons.
        final: `u`, `~` or the letter of an arrow or a function key.
    """
    fields = parameters.split(";")
    if len(fields) > 3:
        return None
    codes, modifiers, text = ([*fields, "", ""])[:3]
    code = _number(codes.split(":")[0], 1 if final not in "u~" else 0)
    bits, event = _modifiers(modifiers)
    if final == "~" and code == _OTHER_KEYS:
        code, final, text = _number(text, 0), "u", ""
    characters = _characters(text)
    if code is None or bits is None or characters is None:
        return None
    if event == _RELEASE:
        return NO_KEYS
    if event not in (1, _REPEAT):
        return None
    name = FUNCTIONAL_KEYS.get(f"{code}{final}")
    if name in _SILENT:
        return NO_KEYS
    if name is not None:
        return (_functional(name, bits, characters),)
    if final != "u" or code in _PRIVATE_KEYS:
        return None
    if characters and (not bits & (_CTRL | _SUPER | _HYPER | _META) or _is_alt_gr(bits)):
        return tuple(_typed(one, bits) for one in characters)
    character = _printable(code)
    return None if character is None else (_chord(character, bits, codes),)


def _is_alt_gr(bits: int) -> bool:
    return bits & (_CTRL | _ALT | _SUPER | _HYPER | _META) == _CTRL | _ALT


def _number(text: str, default: int) -> int | None:
    if not text:
        return default
    is_number = text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER
    return int(text) if is_number else None


def _modifiers(field: str) -> tuple[int | None, int | None]:
    """Return the modifiers' bits without the locks, and the type of the event."""
    written, _, rest = field.partition(":")
    number, event = _number(written, 1), _number(rest.split(":")[0], 1)
    if number is None or number > 256:
        return None, event
    return max(0, number - 1) & ~_LOCKS, event


def _characters(field: str) -> str | None:
    """Return the associated text; None where it is none that can be typed."""
    if not field:
        return ""
    codes = field.split(":")
    if len(codes) > _MOST_TEXT:
        return None
    found = [_printable(code) for one in codes if (code := _number(one, 0)) is not None]
    return "".join(one for one in found if one) if len(found) == len(codes) else None


def _printable(code: int) -> str | None:
    """Return the character of a code, unless it is a control, a surrogate or none at all."""
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return None
    return chr(code)


def _chord_name(name: str, bits: int) -> str:
    held = [word for bit, word in _NAMES if bits & bit]
    if bits & _SHIFT:
        held = sorted([*held, "shift"])
    return "+".join((*held, name))


def _functional(name: str, bits: int, characters: str) -> Key:
    typed = characters[:1] or (None if bits else _TYPED.get(name))
    if not bits & ~_SHIFT and characters and len(name) == 1:
        return Key(name, typed)  # A digit of the keypad, whatever else is held.
    return Key(_chord_name(name, bits), typed if not bits & ~_SHIFT else None)


def _typed(character: str, bits: int) -> Key:
    name = _character_to_key(character)
    return Key(f"shift+{name}" if bits & _SHIFT and character.isspace() else name, character)


def _chord(character: str, bits: int, codes: str) -> Key:
    if bits == _SHIFT and character == " ":
        return Key("shift+space", " ")
    if bits == _SHIFT:
        # Without the associated text the shifted key, where it was sent, is what was typed.
        shifted = _number(codes.split(":")[1], 0) if ":" in codes else 0
        above = (_printable(shifted) if shifted else None) or character.upper()
        if len(above) == 1 and (above != character or above.isupper()):
            return Key(_character_to_key(above), above)
    if bits and character.isalpha():
        character = character.lower()
    name = _character_to_key(character)
    return Key(_chord_name(name, bits), None if bits else character)

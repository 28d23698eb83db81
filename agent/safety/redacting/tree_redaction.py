"""Take personal data out of the XML of a UI tree, before it is kept.

Not the patterns (that is `agent.safety.redacting.redaction`) and not a parser: what a phone sends
may be any bytes. Invariants: nothing but texts is changed, so what is kept has the tree's shape; a
tree is left as it is only where each of its texts was read and holds nothing.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape, unescape
from re import Match

from agent.safety.redacting.redaction import any_may_hold, redact

# Android's own serializer (KXmlSerializer) puts a value that holds " between single quotes, and a
# value may hold > as it is. Possessive, so that a tag which never ends costs one pass.
_TAG = re.compile(r"""<[^\s<>/?!](?:[^<>"']|"[^<"]*"|'[^<']*')*+>""")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""")
_FIELD_CLASSES = ("EditText", "AutoComplete")
_SECRET_NAME = re.compile(r"passw|passcode|passphrase|kennwort|contrase|cvv|cvc|\bpin\b", re.I)
_NAMING = ("hint", "hint-text", "content-desc")
"""Attributes that say, beside a field's id, what belongs into it."""
_NO_TEXT = frozenset({"index", "class", "package", "resource-id", "bounds", "password"})
"""Attributes that no user's words stand in; any other may be text, whatever a build calls it."""

_DECLARATION = re.compile(r"\s*+<\?xml[^<>?]*+\?>")
_TAGS = r"\s*+(?:</?[\w.:$-]++\s*+/?>\s*+)*+"
_BEFORE = re.compile(rf"\s*+(?:/?>{_TAGS}<[\w.:$-]++\s++)?([\w:.-]++)\s*+=\s*+")
"""What stands before a value of a plain tree; from one tag to the next with all in between."""
_END = re.compile(rf"\s*+/?>{_TAGS}")
_MOST_PLAIN_CHARS = 1_000_000
_LONGEST_BEFORE = 300


def redact_tree(xml: bytes, hide: Callable[[str], str] = str) -> bytes:
    """Redact the texts of a UI tree's XML, and blank what a password field holds.

    Every element counts, whatever its name, and every attribute but those that never hold text;
    the one named `password` would otherwise look like a password itself.

    Args:
        hide: takes out what was typed as a secret.
    """
    text = xml.decode("utf-8", "replace")
    if not _holds_nothing(text, hide):
        text = _redacted(text, hide)
    return text.encode()


def _holds_nothing(text: str, hide: Callable[[str], str]) -> bool:
    """Return whether a tree is plain, and nothing is to be taken out of it.

    Plain is what Android writes of nearly every screen: tags and nothing beside them, each value
    between double quotes. To read it so takes a fifth of the time of going through its tags.
    """
    if len(text) > _MOST_PLAIN_CHARS:
        return False
    declared = _DECLARATION.match(text)
    parts = f">{text[declared.end() if declared else 0 :]}".split('"')
    if len(parts) % 2 == 0 or not _END.fullmatch(parts[-1]):
        return False
    befores, values = parts[:-1:2], parts[1::2]
    if "<" in "".join(values):
        # Then it is another question where a tag begins.
        return False
    names: dict[str, str] = {}
    for before in set(befores):
        names[before] = _name_after(before)
        if not names[before]:
            return False
    said: dict[str, list[str]] = {name: [] for name in names.values()}
    # Most values are said again and again: true, false, an app's package, nothing.
    for before, value in set(zip(befores, values, strict=True)):
        said[names[before]].append(value)
    return not _may_hide(said) and not _may_tell(said, hide)


@lru_cache(maxsize=256)
def _known_name_after(before: str) -> str:
    found = _BEFORE.fullmatch(before)
    return found[1] if found else ""


def _name_after(before: str) -> str:
    """Return the attribute that a value belongs to by what stands before it; empty: not plain."""
    # A screen has some thirty of these, and the next screen the same ones.
    return _known_name_after(before) if len(before) <= _LONGEST_BEFORE else ""


def _may_hide(said: dict[str, list[str]]) -> bool:
    """Return whether a tree may have a field whose text is blanked, whatever it is."""
    if "true" in said.get("password", ()):
        return True
    if not any(field in name for name in said.get("class", ()) for field in _FIELD_CLASSES):
        return False
    named = (value for name in ("resource-id", *_NAMING) for value in said.get(name, ()))
    return _SECRET_NAME.search("\n".join(named)) is not None


def _may_tell(said: dict[str, list[str]], hide: Callable[[str], str]) -> bool:
    """Return whether a text of a tree is another one once it is redacted."""
    values = [value for name in said.keys() - _NO_TEXT for value in said[name]]
    texts = [unescape(value) if "&" in value else value for value in values]
    if any([hide(text) != text for text in texts]):
        return True
    return any_may_hold(texts) and any(redact(text) != text for text in texts)


def _name(said: dict[str, str]) -> str:
    own = said.get("resource-id", "").rpartition("/")[2]
    return " ".join((own, *(said.get(name, "") for name in _NAMING)))


def _redacted(text: str, hide: Callable[[str], str]) -> str:
    """Go through the tags of whatever a phone sent."""

    def fit(value: str) -> str:
        return redact(hide(unescape(value)))

    # Two values in three are these; they are text only to somebody whose secret is such a word.
    skipped = frozenset(value for value in ("", "true", "false") if fit(value) == value)

    def tag(match: Match[str]) -> str:
        whole = match.group()
        # A list beside the mapping: a tag may have an attribute twice, and each is looked at.
        values = [(name, one or other) for name, one, other in _ATTRIBUTE.findall(whole)]
        said = dict(values)
        is_field = any(name in said.get("class", "") for name in _FIELD_CLASSES)
        hidden = said.get("password") == "true" or (
            is_field and bool(_SECRET_NAME.search(_name(said)))
        )

        if not hidden and not any(
            value not in skipped and name not in _NO_TEXT and fit(value) != unescape(value)
            for name, value in values
        ):
            return whole

        def attribute(found: Match[str]) -> str:
            name, value = found[1], found[2] or found[3] or ""
            if name in _NO_TEXT:
                return found.group()
            if hidden and name == "text":
                return 'text=""'
            plain = unescape(value)
            redacted = redact(hide(plain))
            if redacted == plain:
                return found.group()
            return f'{name}="{escape(redacted, quote=True)}"'.replace("\n", "&#10;")

        return _ATTRIBUTE.sub(attribute, whole)

    return _TAG.sub(tag, text)

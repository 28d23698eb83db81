"""Read a goal's words as a list of intents, in order.

Pure, English, and honest: what is not understood becomes an `Unclear`, never a guess. Invariant:
quoted text comes through letter for letter.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from agent.models.pilot.intents import (
    Choose,
    Delete,
    Intent,
    Note,
    Open,
    Press,
    Search,
    Send,
    Toggle,
    Type,
    Unclear,
)
from agent.models.pilot.match import EXACT, GOOD, key_tokens, score
from agent.models.pilot.phrases import PHRASES, compile_phrase
from agent.models.pilot.reading import App

Found: TypeAlias = dict[str, str]

_QUOTED = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|„([^“”]+)[“”]|(?<!\w)['‘](.+?)['’](?!\w)", re.DOTALL
)
_MARK = re.compile(r"§(\d+)§")
_POLITE = re.compile(
    r"^(?:(?:please|kindly|now|also|just|then|first|finally|next|and|ok|okay|hey|hi)\b,?\s*"
    r"|(?:can|could|would|will) you (?:please )?"
    r"|i (?:want|need|would like|d like) (?:you )?(?:to )?|i'd like (?:you )?to "
    r"|help me (?:to )?|let's |go ahead and )+",
    re.IGNORECASE,
)
_THANKS = re.compile(r",?\s+(?:please|thanks|thank you|for me|now)$", re.IGNORECASE)
_VERBS = (
    "open|launch|start|go|turn|switch|toggle|enable|disable|activate|deactivate|set|put|write|"
    "create|make|add|jot|take|send|text|message|tell|reply|delete|remove|erase|trash|search|find|"
    "look|type|enter|show|view|navigate|check|call|book|buy|order|play|read|save|share|let|ensure|"
    "change|rename|archive|star|mute|freeze|pin"
)
_SPLIT = re.compile(
    rf"\s*(?:;|\.\s+|,?\s+and then\s+|,?\s+then\s+"
    rf"|,?\s+and\s+(?=(?:(?:please|also|finally) )*(?:{_VERBS})\b(?! down\b)(?! says?\b))"
    rf"|,\s+(?=(?:{_VERBS})\b))\s*",
    re.IGNORECASE,
)
_IN_APP = re.compile(
    # The greedy beginning makes it the last "in" that counts: "switch it on in the Settings app".
    r"^.*(?P<from>[,\s]+(?:in|with|using|via|from|on|through|inside)\s+(?:the\s+)?"
    r"(?P<app>[\w .&-]+?)(?:\s+app)?)$",
    re.IGNORECASE | re.DOTALL,
)
_INTO_APP = re.compile(
    r"^(?:in|with|using|from|on)\s+(?:the\s+)?([\w &-]+?)(?:\s+app)?\s*,?\s+", re.IGNORECASE
)
_ARTICLE = re.compile(r"^(?:the|my|a|an)\s+", re.IGNORECASE)
_ENTRY = re.compile(
    r"(note|memo|conversation|thread|chat)\s+(?:(?:with|from|called|titled|named)\s+)?", re.I
)
_MAX_NAME_WORDS = 4  # More of them are no app's name, but something else to be shown.
_TELLING_CHARS = 4  # Shorter names stand in packages by chance.
_PACKAGE = re.compile(r"\w+(?:\.\w+)+", re.ASCII)
_PAGE = re.compile(r"\s+(?:page|screen|section|menu|settings)$", re.IGNORECASE)

_THINGS = {
    "note": "notes",
    "memo": "notes",
    "contact": "contacts",
    "event": "calendar",
    "appointment": "calendar",
    "mail": "mail",
    "email": "mail",
    "e-mail": "mail",
}
"""The role of the app that a thing is kept in; every other thing is a message's."""
_ROLES = {
    "contacts": ("contacts", "people"),
    "calendar": ("calendar", "agenda"),
    "mail": ("mail", "email", "gmail"),
    "settings": ("settings",),
    "notes": ("notes", "note", "keep", "memo"),
    "messages": ("messages", "messaging", "message", "sms", "texts"),
}


def parse(goal: str, apps: Sequence[App]) -> tuple[Intent, ...]:
    """Read a goal.

    Args:
        goal: what the operator wrote.
        apps: what is installed, so that an app can be known by its name.
    """
    quoted: list[str] = []

    def keep(found: re.Match[str]) -> str:
        quoted.append(next(group for group in found.groups() if group))
        return f" §{len(quoted) - 1}§ "

    flat = " ".join(_QUOTED.sub(keep, goal).split()).rstrip(".!? ")
    intents: list[Intent] = []
    package = ""
    for part in _SPLIT.split(flat):
        clause = _THANKS.sub("", _POLITE.sub("", part.strip(" ,.!?")))
        if not clause:
            continue
        intent = _clause(clause, quoted, apps, package)
        if not isinstance(intent, Note | Send | Toggle):
            # Those have apps of their own, which say nothing about what comes after them.
            package = intent.package or package
        intents += _several(intent)
    return tuple(intents)


def _several(intent: Intent) -> list[Intent]:
    """Take "Bluetooth and Wi-Fi" as two switches."""
    if not isinstance(intent, Toggle):
        return [intent]
    names = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", intent.name)
    return [replace(intent, name=name) for name in names if name]


def role_app(role: str, apps: Sequence[App]) -> str:
    """Return the package of the app that plays a role, such as settings, notes or messages."""
    for name in _ROLES[role]:
        for app in apps:
            if score(name, app.name) == EXACT:
                return app.package
    for name in _ROLES[role]:
        for app in apps:
            if name in app.package.lower().split(".") or score(name, app.name) >= GOOD:
                return app.package
    return ""


def find_app(name: str, apps: Sequence[App]) -> str:
    """Return the package of the app with a name; empty when there is none."""
    plain = re.sub(r"\s+app$", "", _ARTICLE.sub("", name.strip()), flags=re.IGNORECASE)
    if any(app.package == plain for app in apps):
        return plain
    return next((app.package for app in apps if score(plain, app.name) == EXACT), "")


def _only_app_like(name: str, apps: Sequence[App]) -> str:
    """Return the one app whose package says a name, as com.google.android.deskclock says clock.

    Phones that list no labels leave nothing else to know an app by.
    """
    if not apps and _PACKAGE.fullmatch(name):
        # A phone that gave no list: a package may still be named outright.
        return name
    plain = "".join(key_tokens(_ARTICLE.sub("", name)))
    if len(plain) < _TELLING_CHARS:
        return ""
    fitting = [app.package for app in apps if plain in app.package.lower().rsplit(".", 1)[-1]]
    return fitting[0] if len(fitting) == 1 else ""


def _clause(clause: str, quoted: list[str], apps: Sequence[App], before: str) -> Intent:
    named = ""
    leading = _INTO_APP.match(clause)
    if leading and find_app(leading[1], apps):
        named, clause = find_app(leading[1], apps), clause[leading.end() :]
    trailing = _IN_APP.search(clause)
    if trailing and find_app(trailing["app"], apps):
        named, clause = find_app(trailing["app"], apps), clause[: trailing.start("from")]
    clause = _POLITE.sub("", clause).strip(" ,")
    spaced = " ".join(re.sub(r"([:,])(?=\s|$)", r" \1 ", clause).split()) + " "

    def plain(text: str | None) -> str:
        restored = re.sub(r"\s+([,:])", r"\1", text or "").strip(" ,:")
        return _MARK.sub(lambda mark: quoted[int(mark[1])], restored)

    sought = ""
    for name, pattern in _PATTERNS:
        found = pattern.fullmatch(spaced)
        if found is None:
            continue
        words = {key: plain(value) for key, value in found.groupdict().items()}
        intent = _build(name, words, apps, named or before)
        if intent is not None:
            return intent
        if name == "open" and len(words["name"].split()) <= _MAX_NAME_WORDS:
            sought = _ARTICLE.sub("", words["name"])
    return Unclear(plain(clause), app=sought)


def _build(name: str, found: Found, apps: Sequence[App], here: str) -> Intent | None:
    match name:
        case "toggle":
            state, verb = found.get("state", "").lower(), found.get("verb", "").lower()
            on = state in {"on", "enabled", "active"} or verb in {"enable", "activate"}
            thing = _ARTICLE.sub("", found["name"])
            return Toggle(thing, on, here or role_app("settings", apps)) if thing else None
        case "note":
            text, title = found.get("text", ""), found.get("title", "")
            return Note(text, title, role_app("notes", apps) or here) if text or title else None
        case "send":
            who = _ARTICLE.sub("", found["who"])
            package = here or role_app("messages", apps)
            return Send(found["text"], who, package) if who and found["text"] else None
        case "delete":
            return _delete(found, apps, here)
        case "choose":
            name = _ARTICLE.sub("", found["name"])
            return Choose(name, found["value"], here or role_app("settings", apps))
        case "press":
            return _press(found, apps, here)
        case "search":
            return Search(found["text"], here) if found["text"] and here else None
        case "type":
            return Type(found["text"], found.get("field", ""), here) if found["text"] else None
        case _:
            return _open(found["name"], apps, here)


def _delete(found: Found, apps: Sequence[App], here: str) -> Intent | None:
    what = found.get("what", "").lower().removesuffix("s")
    role = _THINGS.get(what, "messages") if what else ""
    package = here or (role_app(role, apps) if role else "")
    name = _ARTICLE.sub("", found["name"])
    return Delete(name, what or "entry", package) if name and package else None


def _press(found: Found, apps: Sequence[App], here: str) -> Intent | None:
    what = found.get("what", "").lower()
    package = here or (role_app(_THINGS.get(what, "messages"), apps) if what else "")
    name = _ARTICLE.sub("", found["name"])
    return Press(found["verb"].lower(), name, what, package) if name and package else None


def _open(name: str, apps: Sequence[App], here: str) -> Intent | None:
    package = find_app(name, apps) or ("" if here else _only_app_like(name, apps))
    if package:
        return Open(name, package)
    name = _ARTICLE.sub("", name)
    entry = _ENTRY.match(name)
    if entry:
        role = "notes" if entry[1].lower() in {"note", "memo"} else "messages"
        return Open(name[entry.end() :], role_app(role, apps) or here)
    thing = _PAGE.sub("", name)
    if thing != name:
        return Open(thing, here or role_app("settings", apps))
    return Open(name, here) if here else None


_PATTERNS = tuple((name, compile_phrase(template)) for name, template in PHRASES)

"""The pilot's grammar: how people ask for things, as templates.

A template is words with spaces. A word of `WORDS` stands for any of its forms, `{name}` for any
text, `{name:quoted}` for one quotation; `word?` may be left out.
"""

import re

WORDS = {
    "TURN": "turn|switch|toggle|flip|put|set|get",
    "ENABLE": "enable|activate|disable|deactivate",
    "ENSURE": "make sure that|make sure|ensure that|ensure|check that",
    "IS": "is|are|stays|gets",
    "SHOULD": "should be|must be|has to be|needs to be",
    "STATE": "on|off|enabled|disabled|active|inactive",
    "MAKE": "write|create|make|add|take|leave|start|save|new|put|jot",
    "A": "a|an|the|my|me a|down a|this",
    "NEW": "new|short|quick|brand new",
    "NOTE": "note to self|note|memo",
    "CALLED": "called|titled|named|with the title|with title",
    "SAYING": "saying|that says|which says|with the text|with text|with the content|reading|"
    "containing|with|of|:|that|,|and say|and write",
    "AND": "and|,",
    "BODY": "the text|the body|body|text",
    "NOTEDOWN": "note down|jot down|write down|note|jot",
    "ASNOTE": "as a note|as a new note|to my notes|in a note|in a new note|down|in my notes",
    "SEND": "send|write|text|say|message",
    "MESSAGE": "text message|message|text|sms|reply",
    "REPLY": "reply|answer|respond",
    "TELL": "tell|text|message",
    "DELETE": "delete|remove|erase|trash|discard|get rid of",
    "CHANGE": "set|change|rename",
    "PRESS": "archive|unarchive|star|unstar|mute|unmute|freeze|unfreeze|pin|unpin",
    "THING": "notes|note|memo|messages|message|conversation|thread|chat|contact|event|appointment|"
    "email|e-mail|mail",
    "NAMED": "called|titled|named|saying|that says|about|with|from|with the title|with the text|:",
    "SEARCH": "search for|search|look for|look up|google|find",
    "TYPE": "type in|type|enter|write|input",
    "INTO": "into the|in the|into|in",
    "OPEN": "open up|open|launch|start|show me|show|view|display|bring up|go to|go into|"
    "navigate to|take me to|visit",
}

PHRASES: tuple[tuple[str, str], ...] = (
    ("toggle", "TURN {state:STATE} {name}"),
    ("toggle", "TURN {name} to? {state:STATE}"),
    ("toggle", "{verb:ENABLE} {name}"),
    ("toggle", "ENSURE {name} IS turned? switched? {state:STATE}"),
    ("toggle", "{name} SHOULD turned? switched? {state:STATE}"),
    ("choose", "CHANGE {name} to {value}"),
    ("note", "MAKE down? A? NEW? NOTE CALLED {title:quoted}"),
    ("note", "MAKE down? A? NEW? NOTE CALLED {title} AND? SAYING BODY? {text}"),
    ("note", "MAKE down? A? NEW? NOTE SAYING {text}"),
    ("note", "MAKE down? A? NEW? NOTE {text:quoted}"),
    ("note", "MAKE A? NEW? NOTE CALLED {title}"),
    ("note", "NOTEDOWN that? :? {text:quoted} ASNOTE?"),
    ("note", "MAKE {text:quoted} ASNOTE"),
    ("note", "NOTE : {text}"),
    ("send", "SEND the? MESSAGE? {text:quoted} to {who}"),
    ("send", "SEND A? NEW? MESSAGE to {who} SAYING? {text:quoted}"),
    ("send", "SEND A? NEW? MESSAGE SAYING? {text:quoted} to {who}"),
    ("send", "SEND A? NEW? MESSAGE to {who} SAYING {text}"),
    ("send", "SEND {who} A? MESSAGE? SAYING? {text:quoted}"),
    ("send", "SEND {who:word} A MESSAGE SAYING? {text}"),
    ("send", "REPLY to? {who} SAYING? {text:quoted}"),
    ("send", "REPLY with? {text:quoted} to {who}"),
    ("send", "TELL {who} SAYING? {text:quoted}"),
    ("send", "let {who} know SAYING? {text}"),
    ("send", "TELL {who:word} SAYING? {text}"),
    ("toggle", "{name} turned? switched? {state:STATE}"),
    ("press", "{verb:PRESS} A? {what:THING} NAMED? {name}"),
    ("press", "{verb:PRESS} A? {name}"),
    ("delete", "DELETE A? {what:THING} NAMED? {name}"),
    ("delete", "DELETE A? {name} {what:THING}"),
    ("delete", "DELETE A? {name}"),
    ("search", "SEARCH {text}"),
    ("type", "TYPE {text:quoted} INTO {field}"),
    ("type", "TYPE {text:quoted}"),
    ("open", "OPEN {name}"),
)


def compile_phrase(template: str) -> re.Pattern[str]:
    """Compile a template into a pattern that matches a whole clause ending in one space."""
    return re.compile("".join(map(_part, template.split())), re.IGNORECASE | re.DOTALL)


def _part(word: str) -> str:
    optional = word.endswith("?")
    word = word.rstrip("?")
    if word.startswith("{"):
        name, _, kind = word.strip("{}").partition(":")
        form = {"": r".+?", "quoted": r"§\d+§", "word": r"[\w.-]+"}.get(kind) or WORDS[kind]
        body = f"(?P<{name}>{form})"
    else:
        body = f"(?:{WORDS.get(word, re.escape(word))})"
    return f"(?:{body} )?" if optional else f"{body} "

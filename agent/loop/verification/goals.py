"""Which goals only ask to look, and which ask for a change. Pure.

English first, with the usual question marks and question words of a few other languages. A goal
that is not understood asks for a change: the price of a mistake is one refused claim.
"""

import re

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CLAUSE = re.compile(r"[.;!?\n]+|,?\s+(?:and|then|und|puis|luego)\s+|,\s+", re.IGNORECASE)


def _words(said: str) -> list[str]:
    return said.split()


_POLITE = frozenset(
    _words(
        "please kindly now just then first finally also can could would will you i we want need "
        "to know me us if whether that"
    )
)
_QUESTIONS = frozenset(
    _words(
        "what what's which who who's whose when where why how is are was were does did has "
        "wie was wer wann wo welche welcher welches quel quelle combien qué cuál cuánto "
        "cuántos quién"
    )
)
_LOOKS = frozenset(
    _words(
        "tell read look check see find show list count summarize summarise describe view inspect "
        "compare identify determine open launch go navigate verify"
    )
)
_OPENS = frozenset(_words("open launch go navigate"))
_CHANGES = frozenset(
    _words(
        "turn switch toggle enable disable activate deactivate set put write create make add jot "
        "take send text message reply delete remove erase trash clear buy order book pay call "
        "ring dial save share change rename edit archive star mute freeze pin type enter install "
        "uninstall update move copy schedule cancel accept reject post upload download sign log "
        "submit confirm start stop begin record play pause report block unblock mark give ensure "
        "ask cast connect pair press tap click swipe"
    )
)
_HIDDEN_CHANGES = frozenset(["turn", "switch", "enable", "disable", "out", "in", "off"])
"""What makes a change of a look: check out, check in, go and turn it off."""
_FACTS = re.compile(
    r"^\W*(?:(?:please|now|then|also|and|can|could|you)\s+)*(?:"
    r"(?:give|tell|show|read)\s+(?:me|us)\b"
    r"|report\s+(?:back\b|to\s+me\b|whether|if|how|what|which|on)\b"
    r"|confirm\s+(?:whether|if|how|what|which)\b"
    r"|get\s+(?:me\s+)?(?:the|all|every)\s+(?:[\w'’-]+\s+){1,3}?of\b"
    r"|(?:fetch|extract|retrieve|collect|gather)\s+(?:the|all|every|each)\b"
    r"|(?:name|say)\s+(?:all|every|each|both|two|three|four|five|ten|\d+|which|what|who|how)\b"
    r"|search\s+for\b|i\s+(?:need|want|would\s+like)\s+to\s+know\b"
    r"|i['’]d\s+like\s+to\s+know\b|let\s+me\s+know\b(?!\s+(?:when|if|as\s+soon)))",
    re.IGNORECASE,
)
"""A clause that asks for facts though its verb can also mean a change, or is none of the usual."""
_TOLD = _QUESTIONS | frozenset(["", *_words("me us if whether the a an about all every each in")])
"""What follows a verb that asks for an answer, not for a message to somebody."""
_FORBIDS = frozenset(_words("don't dont never without nothing none"))
_FORBIDDEN = re.compile(r"^\W*(?:(?:please|but|and)\s+)*(?:do|make)\s+(?:not|no)\b", re.IGNORECASE)
"""A clause that says what is not to be done asks for no change."""


def asks_only_to_look(goal: str) -> bool:
    """Return whether a goal is met by looking, reading, answering or opening, without a change."""
    clauses = _clauses(goal)
    leads = [lead for lead in map(_read, clauses) if lead]
    if not leads or any(lead[0] in _CHANGES for lead in leads):
        return False
    for verb, following in leads:
        if verb in {"check", "go"} and following in _HIDDEN_CHANGES:
            return False
        if verb == "tell" and following not in _TOLD:
            # Somebody else is to be told, which takes a message.
            return False
    asks = leads[0][0] in _LOOKS | _QUESTIONS
    return asks or goal.rstrip().endswith(("?", "？", "؟"))


def asks_only_for_an_answer(goal: str) -> bool:
    """Return whether a goal only asks to look, and not just to open something."""
    leads = [lead for lead in map(_read, _clauses(goal)) if lead]
    return asks_only_to_look(goal) and any(lead[0] not in _OPENS for lead in leads)


def split_forbidden(goal: str) -> tuple[list[str], list[str]]:
    """Cut a goal into clauses: those that ask for something, and those that forbid something."""
    asks: list[str] = []
    forbids: list[str] = []
    for clause in _CLAUSE.split(goal):
        said = (word.casefold() for word in _WORD.findall(clause)[:3])
        forbidden = _FORBIDDEN.search(clause) or not _FORBIDS.isdisjoint(said)
        (forbids if forbidden else asks).append(clause)
    return asks, forbids


def _clauses(goal: str) -> list[str]:
    return split_forbidden(goal)[0]


def _read(clause: str) -> tuple[str, str] | None:
    """Return the lead of a clause, that of telling where it asks for facts."""
    return ("tell", "") if _FACTS.match(clause) else _lead(clause)


def _lead(clause: str) -> tuple[str, str] | None:
    """Return the first word of a clause that says what is to be done, and the word after it."""
    said = [word.casefold() for word in _WORD.findall(clause)]
    while said and said[0] in _POLITE:
        del said[0]
    return (said[0], said[1] if len(said) > 1 else "") if said else None

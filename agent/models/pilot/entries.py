"""Find one entry of a list by its name, and ask when several fit equally well.

Pure. Invariant: of two that fit alike none is taken without the operator's word.
"""

import re

from agent.language.tokens import split_words
from agent.models.pilot.match import EXACT, GOOD, fold, has_words, score, similar
from agent.models.pilot.moves import Call, GiveUp, IntentProgress, ask
from agent.models.pilot.reading import Item, View

_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "top": 1,
    "upper": 1,
    "lower": 2,
}
_NONE = frozenset({"none", "neither", "no", "cancel", "stop", "none of these"})
NONE_OF_THESE = "None of these"
_OPTION_CHARS = 60


def matches(view: View, name: str) -> list[Item]:
    """List the entries that fit a name best; several when they fit alike."""
    scored = [(_fit(name, item), item) for item in view.clickable() if item.section != "TOP BAR"]
    best = max((fit for fit, _ in scored), default=0)
    if best < GOOD:
        return []
    return [item for fit, item in scored if fit == best]


def pick(view: View, trail: IntentProgress, name: str, what: str) -> Item | Call | GiveUp | None:
    """Take the entry with a name; ask when several fit; None when none is in sight."""
    found = matches(view, name)
    if len(found) <= 1:
        return found[0] if found else None
    if trail.answer is not None:
        return _chosen(trail.answer, found, name)
    options = [item.label[:_OPTION_CHARS] for item in found[:6]]
    if len(set(options)) < len(options):
        # Entries that read alike can only be told apart by their place.
        options = [f"{n}. {option}" for n, option in enumerate(options, 1)]
    question = f"There are {len(found)} {what}s that fit “{name}”. Which one?"
    return ask(question, options)


def ask_about_similar(
    view: View, trail: IntentProgress, name: str, what: str
) -> Item | Call | None:
    """Ask whether an entry with nearly the name is meant; the entry once the answer is yes."""
    near = [
        item for item in view.clickable() if item.section != "TOP BAR" and similar(name, item.title)
    ]
    if trail.answer is not None:
        chosen = [item for item in near if fold(trail.answer) == fold(item.title)]
        return chosen[0] if len(chosen) == 1 else None
    if not near or trail.count("ask_user"):
        return None
    titles = list(dict.fromkeys(item.title[:_OPTION_CHARS] for item in near[:5]))
    question = f"There is no {what} called “{name}”. Is one of these meant?"
    return ask(question, [*titles, NONE_OF_THESE])


def _fit(name: str, item: Item) -> int:
    fit = score(name, item.title)
    if fit < GOOD and has_words(name, item.label):
        return GOOD + 5
    # A name that is all of the title is one thing, a title that only holds it another.
    return EXACT if fold(name).strip() == fold(item.title).strip() else min(fit, EXACT - 1)


def _chosen(answer: str, found: list[Item], name: str) -> Item | GiveUp:
    said = fold(answer).strip(" .!")
    if said in _NONE:
        return GiveUp(f"the operator wants none of the entries that fit “{name}”")
    number = re.match(r"(?:the )?(\d+)\b", said)
    words = set(split_words(said))
    place = int(number[1]) if number else next((_ORDINALS[w] for w in words & set(_ORDINALS)), 0)
    labels = {answer.strip(), re.sub(r"^\d+\.\s*", "", answer).strip()}
    exact = [item for item in found if item.label[:_OPTION_CHARS] in labels]
    if len(exact) == 1:
        return exact[0]
    if "last" in words or "bottom" in words:
        return found[-1]
    if 1 <= place <= len(found):
        return found[place - 1]
    ranked = sorted(found, key=lambda item: -score(answer, item.label.replace(" | ", " ")))
    fits = [score(answer, item.label.replace(" | ", " ")) for item in ranked]
    if fits[0] > fits[1]:
        return ranked[0]
    return GiveUp(f"the answer “{answer[:60]}” does not say which “{name}” is meant")

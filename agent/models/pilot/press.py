"""Open an entry and press the button on it that does what was asked: archive, star, mute, freeze.

Pure. Invariant: it counts as done only when the press had an effect that the screen shows.
"""

from agent.models.pilot import moves
from agent.models.pilot.entries import pick
from agent.models.pilot.intents import Press
from agent.models.pilot.match import EXACT, GOOD, key_tokens, score
from agent.models.pilot.reading import Item, View


def press(intent: Press, view: View, trail: moves.IntentProgress) -> moves.Move:
    """Open the entry, then press the button."""
    starting = moves.in_app(view, trail, intent.package)
    if starting is not None:
        return starting
    if any(act.ok and act.label and _is_it(intent, act.label) for act in trail.acts):
        return moves.Done(f"{intent.verb} was pressed for “{intent.name}”")
    opened = any(act.ok and act.label and _names(intent.name, act.label) for act in trail.acts)
    button = moves.button_called(view, intent.verb, f"{intent.verb} {intent.name}")
    if button is not None and (opened or score(intent.name, button.title) >= GOOD):
        if trail.clicks(button.label) >= 2:
            return moves.GiveUp(f"“{button.title}” does nothing")
        return moves.click(button, f"{intent.verb.capitalize()} “{intent.name}”")
    if opened:
        return moves.GiveUp(f"I find nothing here to {intent.verb} “{intent.name}” with")
    found = pick(view, trail, intent.name, intent.what or "entry") or _row(intent, view)
    if isinstance(found, Item):
        return moves.click(found, f"Open “{found.title}”")
    if found is not None:
        return found
    onward = moves.scroll_on(view, trail, f"Look for “{intent.name}”")
    return onward or moves.GiveUp(f"there is no “{intent.name}” here")


def _row(intent: Press, view: View) -> Item | None:
    """Find an entry by what stands in it beside its title, as a mail's subject does."""
    return next((item for item in view.clickable() if _names(intent.name, item.label)), None)


def _names(name: str, label: str) -> bool:
    return any(score(name, part) >= EXACT for part in label.split(" | "))


def _is_it(intent: Press, label: str) -> bool:
    return key_tokens(label)[:1] == key_tokens(intent.verb)

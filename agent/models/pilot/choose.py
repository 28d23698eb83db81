"""Bring a setting to a value: an option of a list, or a text in a dialog.

Pure. Invariant: it counts as set only when the screen shows the value beside the setting's name, or
as the option that is chosen.
"""

from agent.models.pilot.find import way_to
from agent.models.pilot.intents import Choose
from agent.models.pilot.match import EXACT, score, starts_alike
from agent.models.pilot.moves import Call, Done, GiveUp, IntentProgress, Move, affirm, click, in_app
from agent.models.pilot.reading import Item, View


def choose(intent: Choose, view: View, trail: IntentProgress) -> Move:
    """Open the setting, choose or type the value, and see that it stands there."""
    starting = in_app(view, trail, intent.package)
    if starting is not None:
        return starting
    if _shown(intent, view):
        return Done(f"{intent.name} is {intent.value}")
    options = [i for i in view.clickable() if score(intent.value, i.title) >= EXACT]
    if options and (chosen := options[0]).label:
        if chosen.is_on:
            return Done(f"{intent.value} is chosen for {intent.name}")
        if trail.clicks(chosen.label) >= 2:
            return GiveUp(f"{intent.name} does not become {intent.value}")
        return click(chosen, f"Choose {chosen.title}")
    typed = _type(intent, view, trail)
    if typed is not None:
        return typed
    return way_to(intent.name, view, trail, intent.name)


def _shown(intent: Choose, view: View) -> bool:
    """Return whether an element named so says the value too."""
    return any(
        score(intent.name, item.title) >= EXACT
        and any(
            score(intent.value, part) >= EXACT or starts_alike(intent.value, part)
            for part in item.label.split(" | ")[1:]
        )
        for item in view.items
    )


def _type(intent: Choose, view: View, trail: IntentProgress) -> Move | None:
    """Type the value where the setting opened a field; None where it did not."""
    at = trail.path[-1].split(" | ", 1)[0] if trail.path else ""
    fields = view.fields()
    if len(fields) != 1 or score(intent.name, at) < EXACT:
        return None
    confirm = affirm(view, "save", "rename", "set")
    if starts_alike(intent.value, fields[0].value):
        return None if confirm is None else click(confirm, f"Confirm with {confirm.title}")
    if trail.count("type_text") >= 2:
        return GiveUp(f"“{intent.value}” does not get into the field")
    return Call("type_text", _typing(fields[0], intent.value), f"Type {intent.value}")


def _typing(field: Item, text: str) -> dict[str, object]:
    return {"text": text, "element": field.number, "clear": True}

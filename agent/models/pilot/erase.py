"""Delete one entry of a list, through its own page, its menu, or a long press.

Pure. Invariant: only the entry that was named, and agreed on when several fit, is deleted; it
counts as gone when a list that showed it shows it no more.
"""

from agent.models.pilot import moves
from agent.models.pilot.entries import ask_about_similar, matches, pick
from agent.models.pilot.intents import Delete
from agent.models.pilot.match import EXACT, GOOD, key_tokens, score, starts_alike
from agent.models.pilot.reading import Item, View

_WORDS = ("delete", "delete note", "delete conversation", "remove", "move to trash", "erase")
_MENU = ("more options", "more", "menu", "overflow", "options")
_MAX_BACKS = 4


def delete(intent: Delete, view: View, trail: moves.IntentProgress) -> moves.Move:
    """Delete an entry and see that it is gone."""
    starting = moves.in_app(view, trail, intent.package)
    if starting is not None:
        return starting
    confirm = moves.affirm(view, *_WORDS)
    pressed = [act for act in trail.acts if act.ok and _is_delete(act.label)]
    if confirm is not None and pressed:
        return moves.click(confirm, f"Confirm that “{intent.name}” is to be deleted")
    opened = _opened(intent, trail)
    if pressed:
        return _after_delete(intent, view, trail)
    button = moves.button_called(view, *_WORDS)
    if opened and button is not None and trail.clicks(button.label) < 2:
        return moves.click(button, f"Delete “{intent.name}”")
    if opened and trail.path:
        menu = moves.button_called(view, *_MENU)
        if menu is not None and not trail.clicks(menu.label):
            return moves.click(menu, "Look what the menu offers")
        if trail.backs < _MAX_BACKS:
            return moves.back("There is nothing to delete it with here")
    found = pick(view, trail, intent.name, intent.what)
    if found is None:
        return _look_on(intent, view, trail)
    if not isinstance(found, Item):
        return found
    if not opened:
        return moves.click(found, f"Open the {intent.what} “{found.title}”")
    if not trail.count("long_press_element"):
        arguments: dict[str, object] = {"element": found.number}
        return moves.Call(
            "long_press_element", arguments, f"See what can be done with “{found.title}”"
        )
    return moves.GiveUp(f"I find no way to delete the {intent.what} “{intent.name}”")


def _after_delete(intent: Delete, view: View, trail: moves.IntentProgress) -> moves.Move:
    left = matches(view, intent.name)
    opened = [d.label.split(" | ", 1)[0] for d in trail.acts if d.ok and d.label]
    if any(score(intent.name, title) >= EXACT for title in opened):
        # It was the very one that was meant; what else resembles its name stays.
        left = [item for item in left if score(intent.name, item.title) >= EXACT]
    in_list = not view.fields() or any(_is_searchlike(item) for item in view.fields())
    if trail.answer is not None and in_list:
        # One of several was to go: one fewer is what shows it.
        asked = [act for act in trail.acts if act.tool == "ask_user"]
        options = asked[-1].arguments.get("options") if asked else None
        before = len(options) if isinstance(options, list) else 0
        if len(left) < before:
            return moves.Done(
                f"the list shows {len(left)} left of {before} that fit “{intent.name}”"
            )
    elif not left and in_list and view.items:
        return moves.Done(f"the list shows no {intent.what} “{intent.name}” any more")
    if trail.backs < _MAX_BACKS and not in_list:
        return moves.back("Look at the list")
    return moves.GiveUp(f"I pressed delete, but “{intent.name}” is still there")


def _look_on(intent: Delete, view: View, trail: moves.IntentProgress) -> moves.Move:
    if view.fields() and not any(map(_is_searchlike, view.fields())) and trail.backs < _MAX_BACKS:
        return moves.back("This is not the list")
    onward = moves.scroll_on(view, trail, f"Look for “{intent.name}”")
    if onward is not None:
        return onward
    near = ask_about_similar(view, trail, intent.name, intent.what)
    if isinstance(near, Item):
        return moves.click(near, f"Open “{near.title}”, as answered")
    return near or moves.GiveUp(f"there is no {intent.what} “{intent.name}”")


def _opened(intent: Delete, trail: moves.IntentProgress) -> bool:
    return any(
        act.ok
        and act.label
        and (
            score(intent.name, act.label.split(" | ", 1)[0]) >= GOOD
            or starts_alike(intent.name, act.label)
            or (trail.answer is not None and trail.answer.endswith(act.label[:40]))
        )
        for act in trail.acts
    )


def _is_delete(label: str) -> bool:
    return bool(label) and bool({"delete", "remove", "erase", "trash"} & set(key_tokens(label)))


def _is_searchlike(item: Item) -> bool:
    return key_tokens(item.label)[:1] == ("search",)

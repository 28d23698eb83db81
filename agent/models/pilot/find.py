"""Find the way to a switch or a page through an app's menus.

Pure. Knows how phones in general are sorted (Bluetooth stands below connections), never a
particular app's screens. Invariant: nothing is entered twice without reason, so every search ends.
"""

from agent.models.pilot import moves
from agent.models.pilot.intents import Open, Toggle
from agent.models.pilot.match import EXACT, GOOD, key_tokens, score, tokens
from agent.models.pilot.reading import Item, View

# Where things usually are, by the words of the thing; the likeliest first.
_ABOVE: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = (
    (
        frozenset({"bluetooth", "nfc", "cast", "pair"}),
        ("bluetooth", "connected devices", "connections", "connection preferences"),
    ),
    (
        frozenset({"wifi", "airplane", "mobile", "data", "hotspot", "vpn", "roaming", "internet"}),
        ("wifi", "internet", "network and internet", "network internet", "connections"),
    ),
    (
        frozenset(
            {"dark", "brightness", "rotate", "night", "light", "font", "theme", "sleep"}
            | {"timeout", "wallpaper"}
        ),
        ("display", "display and brightness", "screen", "dark theme"),
    ),
    (
        frozenset({"disturb", "vibration", "vibrate", "ring", "ringtone", "silent", "volume"}),
        ("sound and vibration", "sound", "notifications", "do not disturb"),
    ),
    (frozenset({"imei", "version", "name"}), ("about phone", "about device", "about")),
    (frozenset({"battery", "saver"}), ("battery", "device care", "battery saver")),
    (frozenset({"location"}), ("location", "privacy", "security and privacy")),
    (frozenset({"notification"}), ("notifications", "apps and notifications")),
    (frozenset({"talkback", "caption", "magnification", "contrast"}), ("accessibility",)),
    (
        frozenset({"developer", "language", "keyboard", "date", "time", "backup", "reset"}),
        ("system", "general management", "developer options"),
    ),
)
_MAX_BACKS = 8
_SUMMARY = 45
_MAIN_SWITCH = frozenset({"on", "off", "unlabeled"})


def toggle(intent: Toggle, view: View, trail: moves.IntentProgress) -> moves.Move:
    """Bring a switch into a state."""
    starting = moves.in_app(view, trail, intent.package)
    if starting is not None:
        return starting
    state = "on" if intent.on else "off"
    confirm = moves.affirm(view, f"turn {state}", "turn on" if intent.on else "turn off", "allow")
    if confirm is not None and trail.clicks(confirm.label) < 2:
        return moves.click(confirm, f"Confirm with {confirm.title}")
    found = _switch(intent.name, view, trail)
    if isinstance(found, moves.Call):
        return found
    if found is None:
        return way_to(intent.name, view, trail, f"a switch for {intent.name}")
    name = intent.name
    if found.is_on == intent.on:
        return moves.Done(f"{name} is {state}")
    if "DISABLED" in found.states:
        return moves.GiveUp(f"the switch {name} cannot be used now: it is disabled")
    if trail.clicks(found.label) >= 2:
        return moves.GiveUp(
            f"the switch {name} stays {'off' if intent.on else 'on'} when it is tapped"
        )
    return moves.click(found, f"{name} is {'off' if intent.on else 'on'}: turn it {state}")


def open_page(intent: Open, view: View, trail: moves.IntentProgress) -> moves.Move:
    """Bring a page or an entry of an app onto the screen."""
    starting = moves.in_app(view, trail, intent.package)
    if starting is not None:
        return starting
    if score(intent.name, view.app_name(view.package)) >= EXACT:
        return moves.Done(f"{view.app_name(view.package)} is in front")
    last = trail.last
    if last is not None and last.ok and last.label:
        title = last.label.split(" | ", 1)[0]
        if score(intent.name, title) >= GOOD and trail.path[-1:] == [last.label]:
            return moves.Done(f"“{title}” is open")
    headings = [item for item in view.items if item.kind == "text"][:3]
    for heading in headings:
        if score(intent.name, heading.title) >= EXACT:
            return moves.Done(f"“{heading.title}” is open")
    return way_to(intent.name, view, trail, f"“{intent.name}”")


def way_to(name: str, view: View, trail: moves.IntentProgress, what: str) -> moves.Move:
    """Take the next step towards something that is not on the screen."""
    ahead = _lead(name, view, trail)
    if ahead is not None:
        return moves.click(ahead, f"{ahead.title} may lead to {what}")
    box = None if trail.typed(name) else _search_box(view)
    if box is not None and box.kind == "INPUT" and box.value and trail.backs < _MAX_BACKS:
        return moves.back("Leave an old search")
    if box is not None and box.kind == "INPUT":
        return moves.type_into(box, name, f"Search for {name}")
    if box is not None and not trail.clicks(box.label):
        return moves.click(box, f"Search for {name}")
    onward = moves.scroll_on(view, trail, f"Look further on for {what}")
    if onward is not None:
        return onward
    # An app's own search knows all of it: what it does not find is not there.
    searched = trail.typed(name)
    if trail.last is not None and trail.last.tool == "type_text":
        return moves.wait("Results may take a moment")
    if not searched and trail.backs < _MAX_BACKS and (trail.path or not _saw_the_top(trail)):
        return moves.back(f"{what} is not here")
    return moves.GiveUp(f"I looked through {view.app_name(view.package)} and did not find {what}")


def _saw_the_top(trail: moves.IntentProgress) -> bool:
    """Return whether going back left the app, so that it was opened again at its first page."""
    tools = [act.tool for act in trail.acts if act.tool in {"press_button", "launch_app"}]
    return "launch_app" in tools and tools[0] == "press_button"


def _switch(name: str, view: View, trail: moves.IntentProgress) -> Item | moves.Call | None:
    toggles = [item for item in view.items if item.is_toggle]
    exact = [item for item in toggles if score(name, item.title) >= EXACT]
    if exact:
        return exact[0]
    inside = any(score(name, label) >= GOOD for label in trail.path[-1:])
    if inside and len(toggles) == 1:
        title = " ".join(tokens(toggles[0].title))
        if title in _MAIN_SWITCH:
            return toggles[0]
    near = [item for item in toggles if score(name, item.title) >= GOOD]
    if not near or _lead(name, view, trail) is not None:
        return None
    if trail.answer is not None:
        agreed = [item for item in near if item.title == trail.answer]
        return agreed[0] if agreed else None
    options = list(dict.fromkeys(item.title for item in near))
    return moves.Call(
        "ask_user",
        {"question": f"Which switch is “{name}”?", "options": [*options, "None of these"]},
        f"No switch is called {name} exactly",
    )


def _lead(name: str, view: View, trail: moves.IntentProgress) -> Item | None:
    """Find what most likely leads on: by its own name, its summary, or where such things are."""
    wanted = set(key_tokens(name))
    above = [place for words, places in _ABOVE if words & wanted for place in places]
    best: tuple[int, Item] | None = None
    for item in view.clickable():
        if item.is_toggle or item.kind in {"nav-btn", "icon-btn"} or item.label in trail.entered:
            continue
        if _is_search(item):
            continue
        fit = score(name, item.label)
        for place, usual in enumerate(above):
            if score(usual, item.title) >= EXACT:
                fit = max(fit, GOOD - 1 - place)
        if fit >= _SUMMARY and (best is None or fit > best[0]):
            best = (fit, item)
    return None if best is None else best[1]


def _search_box(view: View) -> Item | None:
    boxes = [item for item in view.fields() if _is_search(item)]
    return next(iter(boxes), None) or next(filter(_is_search, view.clickable()), None)


def _is_search(item: Item) -> bool:
    return tokens(item.title)[:1] == ("search",) or (
        item.label == "unlabeled" and "search" in item.id.lower()
    )

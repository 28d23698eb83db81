"""Write notes, send messages, search and type.

Pure. Invariant: a text counts as written or sent only when the newest screen shows it.
"""

from agent.models.pilot import moves
from agent.models.pilot.entries import ask_about_similar, pick
from agent.models.pilot.intents import Note, Search, Send, Type
from agent.models.pilot.match import EXACT, GOOD, key_tokens, score, starts_alike
from agent.models.pilot.moves import wait
from agent.models.pilot.reading import Item, View

_NEW = ("new note", "new", "add", "create", "compose", "write")
_NEW_CHAT = ("start chat", "new message", "new conversation", "new chat", "compose", "new")
_SAVE = ("save", "done")
_MESSAGE_WORDS = frozenset({"message", "text", "reply", "compose", "write", "type"})
_RECIPIENT_WORDS = frozenset({"to", "recipient", "name", "number", "phone", "people", "contact"})
_MAX_BACKS = 4


def note(intent: Note, view: View, trail: moves.IntentProgress) -> moves.Move:
    """Write a new note and see it in the list."""
    starting = moves.in_app(view, trail, intent.package)
    if starting is not None:
        return starting
    written = [text for text in (intent.title, intent.text) if text]
    fields = [item for item in view.fields() if not _is_search(item)]
    missing = [
        text
        for text in written
        if not trail.typed(text) or (fields and trail.typed_in_vain(text, fields))
    ]
    if missing and not (trail.clicked(*_NEW) and fields):
        return _new_note(view, trail, fields)
    if missing:
        return _fill(intent, missing[0], fields)
    held = [text for text in written if any(starts_alike(text, item.value) for item in fields)]
    if fields and held:
        save = moves.button_called(view, *_SAVE)
        if save is not None and not trail.clicks(save.label):
            return moves.click(save, "Save the note")
        return moves.back("The note is written: back to the list saves it")
    if fields and trail.backs < _MAX_BACKS:
        return moves.back("Look at the list of notes")
    shown = [text for text in written if any(starts_alike(text, i.label) for i in view.items)]
    # Lists show the first line of a note; a title stands before its text.
    if shown:
        return moves.Done(f"the list shows the note “{shown[0]}”")
    onward = moves.scroll_on(view, trail, "Look for the note in the list")
    return onward or moves.GiveUp("I wrote the note, but I do not see it in the list")


def send(intent: Send, view: View, trail: moves.IntentProgress) -> moves.Move:
    """Send a message and see it in the conversation."""
    starting = moves.in_app(view, trail, intent.package)
    if starting is not None:
        return starting
    compose = _compose_field(view)
    if compose is not None and _is_with(intent.recipient, view, trail):
        return _say(intent, compose, view, trail)
    to = next((item for item in view.fields() if _is_recipient(item)), None)
    if to is not None and trail.clicked(*_NEW_CHAT):
        return _address(intent, to, view, trail)
    if compose is not None:
        if trail.backs < _MAX_BACKS:
            return moves.back(f"This is not the conversation with {intent.recipient}")
        return moves.GiveUp(f"I do not get to the conversation with {intent.recipient}")
    found = pick(view, trail, intent.recipient, "conversation")
    if isinstance(found, Item):
        return moves.click(found, f"Open the conversation with {found.title}")
    if found is not None:
        return found
    onward = moves.scroll_on(view, trail, f"Look for the conversation with {intent.recipient}")
    if onward is not None:
        return onward
    near = ask_about_similar(view, trail, intent.recipient, "conversation")
    if isinstance(near, Item):
        return moves.click(near, f"Open the conversation with {near.title}, as answered")
    if near is not None:
        return near
    new = moves.button_called(view, *_NEW_CHAT)
    if new is not None and not trail.clicks(new.label):
        return moves.click(new, f"Begin a conversation with {intent.recipient}")
    if trail.path and trail.backs < _MAX_BACKS:
        return moves.back("Back to the list of conversations")
    return moves.GiveUp(
        f"there is no conversation with {intent.recipient}, nor a contact of that name"
    )


def search(intent: Search, view: View, trail: moves.IntentProgress) -> moves.Move:
    """Type into an app's search."""
    starting = moves.in_app(view, trail, intent.package)
    if starting is not None:
        return starting
    for item in view.fields():
        if starts_alike(intent.text, item.value):
            if view.items and not trail.count("wait"):
                return wait("Results may take a moment")
            return moves.Done(f"the search shows what there is for “{intent.text}”")
    box = next(filter(_is_search, view.fields()), None)
    if box is not None:
        if trail.count("type_text") >= 2:
            return moves.GiveUp("the search field does not take the text")
        return moves.type_into(box, intent.text, f"Search for {intent.text}")
    opener = moves.button_called(view, "search")
    if opener is None:
        opener = next((i for i in view.clickable() if key_tokens(i.title)[:1] == ("search",)), None)
    if opener is not None and trail.clicks(opener.label) < 2:
        return moves.click(opener, "Open the search")
    if trail.backs < _MAX_BACKS and not trail.clicks("unlabeled"):
        return moves.back("There is no search here")
    return moves.GiveUp(f"{view.app_name(view.package)} shows no search")


def type_text(intent: Type, view: View, trail: moves.IntentProgress) -> moves.Move:
    """Type into a field of the screen in front."""
    starting = moves.in_app(view, trail, intent.package)
    if starting is not None:
        return starting
    fields = view.fields()
    if any(starts_alike(intent.text, item.value) for item in fields) and trail.typed(intent.text):
        return moves.Done(f"the field holds “{intent.text}”")
    if intent.name:
        fields = [item for item in fields if score(intent.name, item.label) >= GOOD]
    if not fields:
        return moves.GiveUp(f"there is no field {intent.name}".rstrip() + " on this screen")
    if trail.count("type_text") >= 2:
        return moves.GiveUp("the field does not take the text")
    return moves.type_into(fields[0], intent.text, f"Type into {fields[0].label}")


# --- notes ----------


def _new_note(view: View, trail: moves.IntentProgress, fields: list[Item]) -> moves.Move:
    new = None if fields else moves.button_called(view, *_NEW)
    if new is not None:
        if trail.clicks(new.label) >= 2:
            return moves.GiveUp("no new note opens")
        return moves.click(new, "Begin a new note")
    if trail.backs < _MAX_BACKS:
        return moves.back("Back to the list of notes")
    return moves.GiveUp("I find no way to begin a new note")


def _fill(intent: Note, text: str, fields: list[Item]) -> moves.Move:
    titles = [item for item in fields if score("title", item.label) >= GOOD]
    bodies = [item for item in fields if item not in titles]
    target = titles if text == intent.title and titles else bodies or titles
    if not target:
        return moves.GiveUp("the note has no field for its text")
    field = target[0]
    if field.value and not starts_alike(text, field.value):
        return moves.GiveUp(f"the field {field.label} already holds other text")
    return moves.type_into(field, text, f"Write into {field.label}")


# --- messages ----------


def _say(intent: Send, compose: Item, view: View, trail: moves.IntentProgress) -> moves.Move:
    sent = trail.typed(intent.text) and any(
        act.label and key_tokens(act.label)[:1] == ("send",) and act.ok for act in trail.acts
    )
    bubbles = [item for item in view.items if item.number != compose.number]
    shown = any(starts_alike(intent.text, item.label) for item in bubbles)
    if sent and not compose.value:
        if shown:
            return moves.Done(f"the conversation with {intent.recipient} shows “{intent.text}”")
        if not trail.count("wait"):
            return wait("The message is on its way")
        return moves.GiveUp("I pressed send, but I do not see the message in the conversation")
    if compose.value and not starts_alike(intent.text, compose.value):
        return moves.GiveUp(
            "the conversation already holds an unsent draft, which I will not touch"
        )
    if not compose.value:
        if trail.count("type_text") >= 3:
            return moves.GiveUp("the message field does not take the text")
        return moves.type_into(compose, intent.text, "Write the message")
    button = _send_button(view)
    if button is None:
        return moves.GiveUp("I see no send button")
    if trail.clicks(button.label) >= 2:
        return moves.GiveUp("the send button has no effect")
    return moves.click(button, f"Send it to {intent.recipient}")


def _send_button(view: View) -> Item | None:
    exact = [item for item in view.clickable() if score("send", item.title) >= EXACT]
    named = [item for item in view.clickable() if key_tokens(item.title)[:1] == ("send",)]
    silent = [i for i in view.clickable() if i.label == "unlabeled" and "send" in i.id.lower()]
    return next(iter((*exact, *named, *silent)), None)


def _is_with(recipient: str, view: View, trail: moves.IntentProgress) -> bool:
    heads = [item for item in view.items if item.section == "TOP BAR"]
    if any(score(recipient, item.title) >= GOOD for item in heads):
        return True
    answered = trail.answer is not None and any(
        trail.answer.strip() in (item.title, item.label) for item in heads
    )
    entered = trail.path[-1:] and score(recipient, trail.path[-1].split(" | ", 1)[0]) >= GOOD
    return bool(answered or entered)


def _address(intent: Send, to: Item, view: View, trail: moves.IntentProgress) -> moves.Move:
    if not trail.typed(intent.recipient):
        return moves.type_into(to, intent.recipient, "Say who it is for")
    found = pick(view, trail, intent.recipient, "contact")
    if isinstance(found, Item):
        return moves.click(found, f"Choose {found.title}")
    if found is not None:
        return found
    return moves.GiveUp(f"there is no contact called {intent.recipient}")


def _compose_field(view: View) -> Item | None:
    fields = [i for i in view.fields() if not _is_search(i) and not _is_recipient(i)]
    worded = [item for item in fields if set(key_tokens(item.label)) & _MESSAGE_WORDS]
    return next(iter((*worded, *fields)), None)


def _is_recipient(item: Item) -> bool:
    label = item.label.casefold().split()
    return bool(set(label) & _RECIPIENT_WORDS)


def _is_search(item: Item) -> bool:
    return key_tokens(item.label)[:1] == ("search",) or "search" in item.id.lower()

"""The one registry of actions: keys, names, sentences. Bindings, footer, palette, help and
docs/keys.md are made from it.

Only a table and its readings; nothing is done here. Invariants: an action that is listed exists;
no two actions that can meet on a screen share a key; ids never change, so that a keymap can name
them.
"""

# ruff: noqa: E501 -- the table is read by its columns, one action a line
from enum import StrEnum
from typing import NamedTuple

from textual.binding import Binding


class Where(StrEnum):
    """On which screen an action is at home."""

    EVERYWHERE = "everywhere"
    DECK = "deck"
    WALL = "wall"
    JOBS = "jobs"
    HISTORY = "history"
    REPLAY = "replay"
    COMPARE = "compare"
    DEVICE = "device"
    SETTINGS = "settings"


class Action(NamedTuple):
    """One thing the operator can do.

    `rank` orders the footer, 0 keeps it out. `in_text` actions also work while typing and over a
    dialog. `own` actions are bound by the widget that has the focus, not by the registry.
    """

    id: str
    keys: tuple[str, ...]
    title: str
    sentence: str
    where: Where
    group: str
    rank: int = 0
    in_text: bool = False
    own: bool = False


_ALL, _DECK, _JOBS = Where.EVERYWHERE, Where.DECK, Where.JOBS
_WALL = Where.WALL
_HISTORY, _REPLAY, _DEVICE = Where.HISTORY, Where.REPLAY, Where.DEVICE

ACTIONS: tuple[Action, ...] = (
    # --- sessions
    Action("session.stop_all", ("ctrl+x",), "Stop all", "Interrupt every session at once; each can be resumed.", _ALL, "Sessions", 90, in_text=True),
    Action("session.stop", ("x",), "Stop", "Interrupt the selected session; it can be resumed.", _DECK, "Sessions", 7),
    Action("session.pause", ("p",), "Pause", "Hold the selected session before its next step, or resume one that is paused, stopped or over.", _DECK, "Sessions", 8),
    Action("session.cancel", ("c",), "Cancel", "End the selected session and its children; press twice.", _DECK, "Sessions", 22),
    Action("session.new", ("n",), "New", "Write the goal of a new session and choose its device.", _DECK, "Sessions", 10),
    Action("session.write", ("i",), "Write", "Go to the composer: prompt, steer or answer the selected session.", _DECK, "Sessions", 11),
    Action("session.replay", ("R",), "Replay", "Play the selected session again from the store.", _DECK, "Sessions", 30),
    Action("session.confirm", ("plus",), "Confirm result", "Confirm that the selected, completed session met its goal; the latest verdict counts.", _DECK, "Sessions"),
    Action("session.wrong", ("minus",), "Result wrong", "Record that the selected, completed session did not meet its goal; the latest verdict counts.", _DECK, "Sessions"),
    Action("session.let_through", ("L",), "Let through", "Send your redacted texts to this session again, unredacted; press twice.", _DECK, "Sessions", 6),
    Action("session.keep", ("P",), "Keep pictures", "Keep the pictures of the selected session and its tree for ever; again returns them to retention.", _DECK, "Sessions"),
    Action("session.copy", ("y",), "Copy", "Copy the text of the selected row or step.", _DECK, "Sessions"),
    Action("notice.done", ("D",), "Clear read", "Dismiss the ended sessions that you have read, or the marked ones, from every console; the history keeps them.", _DECK, "Sessions", 14),
    Action("notice.send", ("s",), "Follow up", "Write a new goal that starts from the result of the selected, ended session.", _DECK, "Sessions", 15),
    Action("session.tag", ("l",), "Tag", "Tag the selected or marked sessions; -word removes a tag.", _DECK, "Sessions", 24),
    Action("session.rename", ("E",), "Rename", "Write another title for the selected or marked sessions.", _DECK, "Sessions"),
    Action("view.mark", ("space",), "Mark", "Mark the session under the cursor; session keys then act on all marked ones. esc unmarks all.", _DECK, "Several", 19, own=True),
    Action("view.mark_range", ("V",), "Mark range", "Mark all sessions from the last mark to the cursor.", _DECK, "Several"),
    Action("view.mark_all", ("asterisk",), "Mark all", "Mark all sessions that are listed, or none.", _DECK, "Several"),
    Action("view.undo", ("U",), "Undo", "Undo the newest action on marked or dismissed sessions, as far as possible.", _DECK, "Several", 23),
    Action("view.sort", ("O",), "Sort", "Sort the sessions: live first, newest first, by state, by phone, by tag, by title; on a fleet by host.", _DECK, "Looking", 33),
    Action("view.group", ("B",), "Group", "Group the sessions: as a tree, by state, by phone, by tag, by age; on a fleet by host.", _DECK, "Looking", 34),
    Action("view.left_wider", ("greater_than_sign",), "Left pane wider", "Make the session list wider. The mouse drags the border.", _DECK, "Panes"),
    Action("view.left_narrower", ("less_than_sign",), "Left pane narrower", "Make the session list narrower.", _DECK, "Panes"),
    Action("view.right_wider", ("left_curly_bracket",), "Right pane wider", "Make the phone's pane wider.", _DECK, "Panes"),
    Action("view.right_narrower", ("right_curly_bracket",), "Right pane narrower", "Make the phone's pane narrower.", _DECK, "Panes"),
    Action("view.even", ("equals_sign",), "Even panes", "Return to automatic pane widths.", _DECK, "Panes"),
    Action("view.full", ("F",), "Full pane", "Give the pane with the focus the whole width; again shows all. tab goes to the next.", _DECK, "Panes", 35),
    Action("session.editor", ("e",), "In your editor", "Open the step under the cursor with all that was stored of it, else the whole transcript, in $VISUAL or $EDITOR.", _DECK, "Sessions"),
    Action("steer.edit", ("h",), "Change hint", "Change the hint under the cursor, or the newest, that no step has applied.", _DECK, "Sessions", 16),
    Action("steer.withdraw", ("u",), "Take back", "Withdraw the hint under the cursor, or the newest, that no step has applied.", _DECK, "Sessions", 17),
    # --- questions
    Action("question.next", ("exclamation_mark",), "Next question", "Go to the oldest question that waits, from anywhere; from its card, or once it is answered, to the next. While sessions are marked, theirs come first.", _ALL, "Questions", 12),
    Action("question.approve", ("a",), "Approve", "Approve the card's action once; press twice away from the card.", _DECK, "Questions", 5),
    Action("question.reject", ("r",), "Reject", "Reject the card's action: type a reason, or nothing, and press enter.", _DECK, "Questions", 6),
    Action("question.session", ("A",), "For this session", "Approve the same button of the same app for the rest of the session; press twice on the card.", _DECK, "Questions"),
    Action("question.modify", ("m",), "Instead", "Write what to do instead of the card's action; a text to be typed can be edited.", _DECK, "Questions"),
    Action("question.wheel", ("t",), "By hand", "On the card: take the wheel of its phone.", _DECK, "Questions", own=True),
    Action("question.dismiss", ("d",), "Dismiss", "Dismiss the notice under the cursor on every console.", _DECK, "Questions", 9),
    Action("question.option", ("1…9",), "Answer", "Choose an option of the question that has the focus.", _DECK, "Questions", own=True),
    # --- phones
    Action("wheel.take", ("w",), "Drive", "Take the wheel of the phone that is shown: its session waits. Again, or esc, hands it back.", _DECK, "Phones", 13),
    Action("wheel.buttons", ("f2", "f3", "f4"), "Back, home, recents", "Press a button of the phone that you drive; the right and middle mouse buttons are back and home.", _DECK, "Phones", own=True),
    Action("phone.text", ("t", "f5"), "Text or picture", "Show the phone's screen as text, refreshed as it changes; enter presses. Again: the picture.", _DECK, "Phones", 19),
    Action("phone.closer", ("z", "f6"), "Zoom", "Zoom into the picture of the phone, up to 8×, then whole again; arrows move it, with shift while you drive. The mouse wheel zooms too, with ctrl while you drive.", _DECK, "Phones", 20),
    Action("phone.farther", ("Z",), "Zoom out", "Zoom out of the picture of the phone.", _DECK, "Phones"),
    Action("target.show", ("S",), "Show app", "Show the app of the selected session on a display of its own.", _DECK, "Phones"),
    Action("target.hide", ("H",), "Hide app", "Move the app of the selected session to a hidden display.", _DECK, "Phones"),
    Action("target.attach", ("T",), "Attach app", "Bring the app of the selected session to the phone's main display.", _DECK, "Phones"),
    Action("device.virtual", ("v",), "Virtual phone", "Start a virtual phone, if none is there.", _DECK, "Phones", 32),
    Action("device.open", ("o",), "Open phone", "Show this phone large: elements, log, health, the wheel.", _DECK, "Phones", 18),
    # --- looking
    Action("view.filter", ("slash",), "Filter", "Show only sessions that match; esc clears.", _DECK, "Looking", 31),
    Action("view.find", ("f",), "Find", "Find words in the transcript; enter goes to the next, esc leaves.", _DECK, "Looking"),
    Action("view.numbers", ("number_sign",), "Numbers", "Show or hide the element numbers on the picture.", _DECK, "Looking"),
    Action("view.fold", ("left", "right"), "Fold", "Fold or unfold the subtasks of a session.", _DECK, "Looking", own=True),
    Action("view.expand", ("space",), "Expand", "Show more of the step under the cursor: its details, then its record.", _DECK, "Looking", own=True),
    Action("view.open", ("enter",), "Open", "Go from a session to its transcript, from a question to its card.", _DECK, "Looking", own=True),
    Action("view.down", ("j", "down"), "Down", "Move down.", _ALL, "Moving", own=True),
    Action("view.up", ("k", "up"), "Up", "Move up.", _ALL, "Moving", own=True),
    Action("view.first", ("g", "home"), "First", "Go to the first row or the oldest step.", _ALL, "Moving", own=True),
    Action("view.last", ("G", "end"), "Last", "Go to the last row, or follow the newest step.", _ALL, "Moving", own=True),
    Action("view.page_down", ("ctrl+d", "pagedown"), "Half a page down", "Move down by half a page.", _ALL, "Moving", own=True),
    Action("view.page_up", ("ctrl+u", "pageup"), "Half a page up", "Move up by half a page.", _ALL, "Moving", own=True),
    Action("view.next_pane", ("tab",), "Next pane", "Go to the next pane; if not all fit, show it.", _DECK, "Moving"),
    Action("view.previous_pane", ("shift+tab",), "Previous pane", "Go to the previous pane.", _DECK, "Moving"),
    Action("view.back", ("escape",), "Back", "One layer back: filter, composer, dialog, screen. Never touches a session.", _ALL, "Moving"),
    # --- wall
    Action("wall.open", ("enter",), "Open", "Show the phone under the cursor large.", _WALL, "Phones", own=True),
    Action("wall.left", ("h", "left"), "Left", "Go to the phone at the left.", _WALL, "Moving", own=True),
    Action("wall.right", ("l", "right"), "Right", "Go to the phone at the right.", _WALL, "Moving", own=True),
    Action("wall.virtual", ("v",), "Virtual phone", "Start a virtual phone, if none is there.", _WALL, "Phones", 32),
    Action("wall.filter", ("slash",), "Filter", "Show only phones that match, by name, state, session, @host/ or #tag; esc clears.", _WALL, "Looking", 31),
    Action("wall.group", ("B",), "Group", "Group the phones by host, or not; on a fleet.", _WALL, "Looking", 34),
    # --- jobs
    Action("job.new", ("n",), "New", "Write a job, a watcher or a commitment in a few lines.", _JOBS, "Jobs", 10),
    Action("job.edit", ("e",), "Change", "Change what the selected job does and when.", _JOBS, "Jobs", 14),
    Action("job.run", ("r",), "Run now", "Make the selected job due now; its schedule continues after the run.", _JOBS, "Jobs", 11),
    Action("job.pause", ("p",), "Pause", "Keep the selected job from running, or let it run again.", _JOBS, "Jobs", 12),
    Action("job.review", ("a",), "Review", "Go to the card of the selected job's review; again approves it. On the card 1 approves and 2 rejects.", _JOBS, "Jobs", 9),
    Action("job.done", ("c",), "Complete", "Complete the selected commitment.", _JOBS, "Jobs", 11),
    Action("job.snooze", ("z",), "Snooze", "Snooze the selected commitment for an hour, or reopen one that is over.", _JOBS, "Jobs", 12),
    Action("job.read", ("d",), "Seen", "Mark the result or match as seen; dismiss the selected commitment.", _JOBS, "Jobs", 13),
    Action("job.stop", ("x",), "Stop", "Stop the selected job or watcher for good; press twice.", _JOBS, "Jobs", 20),
    Action("job.replay", ("R",), "Replay", "Play the newest run of the selected job again.", _JOBS, "Jobs", 21),
    Action("job.filter", ("slash",), "Filter", "Show only what matches; esc clears.", _JOBS, "Jobs", 31),
    Action("job.next_list", ("tab",), "Next list", "Go from the jobs to the watchers, and on to the commitments.", _JOBS, "Jobs", 30),
    Action("job.previous_list", ("shift+tab",), "Previous list", "Go to the previous list.", _JOBS, "Jobs"),
    Action("job.copy", ("y",), "Copy", "Copy the details.", _JOBS, "Jobs"),
    Action("job.open", ("enter",), "Details", "Go to the details, which scroll; again, or esc, back to the list.", _JOBS, "Jobs", own=True),
    Action("job.group", ("B",), "Group", "Group what is listed by host, or not; on a fleet.", _JOBS, "Jobs", 34),
    # --- history
    Action("history.search", ("slash",), "Search", "Find sessions by what they said and did; esc clears.", _HISTORY, "History", 10),
    Action("history.replay", ("enter",), "Replay", "Replay the session from the place found.", _HISTORY, "History", own=True),
    Action("history.sums", ("s",), "Spending", "Show tokens, money and sessions of the last days as bars, and the most expensive sessions; again, or esc, shows the list alone.", _HISTORY, "History", 11),
    Action("history.measure", ("m",), "Measure", "Let the bars measure tokens, then money, then sessions.", _HISTORY, "History", 12),
    Action("history.pick", ("space",), "Pick", "Pick the session under the cursor to compare another with it; again unpicks it.", _HISTORY, "History", 13),
    Action("history.filters", ("F",), "Filters", "Choose a filter: failed this week, unverified, kept, or saved by you.", _HISTORY, "History", 9),
    Action("history.save", ("S",), "Save filter", "Save the list's filter, or delete the saved one.", _HISTORY, "History"),
    Action("history.keep", ("P",), "Keep pictures", "Keep the pictures of the session under the cursor and its tree for ever; again returns them to retention.", _HISTORY, "History", 15),
    Action("history.compare", ("d",), "Compare", "Compare the session under the cursor with the picked one, from the first step where they diverge.", _HISTORY, "History", 14),
    Action("history.group", ("B",), "Group", "Group the sessions by host, or not; on a fleet.", _HISTORY, "History", 34),
    # --- replay
    Action("replay.play", ("space",), "Play or hold", "Play or pause the replay.", _REPLAY, "Replay", 10),
    Action("replay.forward", ("right", "l"), "Step on", "Go one step forward.", _REPLAY, "Replay", 11),
    Action("replay.backward", ("left", "h"), "Step back", "Go one step back.", _REPLAY, "Replay", 12),
    Action("replay.start", ("home", "g"), "Start", "Go to the beginning.", _REPLAY, "Replay"),
    Action("replay.end", ("end", "G"), "End", "Go to the end.", _REPLAY, "Replay"),
    Action("replay.faster", ("plus", "equals_sign"), "Faster", "Double the speed, up to 64.", _REPLAY, "Replay", 13),
    Action("replay.slower", ("minus",), "Slower", "Halve the speed, down to 1.", _REPLAY, "Replay", 14),
    Action("replay.record", ("i",), "Record", "Show what the step was made of: tree, then prompt, then reply, then nothing.", _REPLAY, "Replay", 15),
    Action("replay.branch", ("b",), "Branch", "Start a new session with the past up to this step; press twice.", _REPLAY, "Replay", 16),
    Action("replay.again", ("a",), "Do again", "Repeat the session's actions on a free phone, asking the model only where the screen differs; press twice.", _REPLAY, "Replay", 18),
    Action("replay.export", ("E",), "Write to a file", "Write the session as an HTML page, a film or a rollout.", _REPLAY, "Replay", 17),
    Action("replay.editor", ("e",), "In your editor", "Open the step under the cursor with all that was stored of it, else the transcript up to here, in $VISUAL or $EDITOR.", _REPLAY, "Replay"),
    Action("replay.text", ("t",), "Text or picture", "Show the screen of this moment as text. Again: the picture.", _REPLAY, "Replay"),
    Action("replay.closer", ("z",), "Zoom", "Zoom into the frame, up to 8×, then whole again; shift and arrows, or the mouse, move it.", _REPLAY, "Replay"),
    Action("replay.farther", ("Z",), "Zoom out", "Zoom out of the frame.", _REPLAY, "Replay"),
    Action("replay.numbers", ("number_sign",), "Numbers", "Show or hide the element numbers on the picture.", _REPLAY, "Replay"),
    Action("replay.compare", ("d",), "Compare", "Pick this session and choose another in the history to compare.", _REPLAY, "Replay", 19),
    # --- two sessions
    Action("compare.replay", ("enter",), "Replay the first", "Play the first session from the place under the cursor.", Where.COMPARE, "Compare", 9, own=True),
    Action("compare.other", ("o",), "Replay the second", "Play the second session from the place under the cursor.", Where.COMPARE, "Compare", 10),
    Action("compare.parting", ("d",), "First difference", "Go to the first step where the two differ.", Where.COMPARE, "Compare", 11),
    Action("compare.copy", ("y",), "Copy", "Copy where the two diverge, as lines.", Where.COMPARE, "Compare", 12),
    # --- one phone
    Action("device.drive", ("w",), "Drive", "Take the wheel of this phone: its session waits. Again, or esc, hands it back with a note.", _DEVICE, "Driving", 10),
    Action("device.tap", ("enter",), "Tap", "Tap the element under the cursor, while you drive; on a finding: repair it.", _DEVICE, "Driving", own=True),
    Action("device.press", ("L",), "Long press", "Long-press the element under the cursor, while you drive.", _DEVICE, "Driving"),
    Action("device.buttons", ("f2", "f3", "f4"), "Back, home, recents", "Press a button of the phone that you drive; the right and middle mouse buttons are back and home.", _DEVICE, "Driving", own=True),
    Action("device.elements", ("e",), "Elements", "Show what is on the phone's screen, numbered as a model sees it; the cursor is seen on the picture.", _DEVICE, "Looking", 20),
    Action("device.log", ("l",), "Log", "Show the newest lines of the phone's log, as they come.", _DEVICE, "Looking", 21),
    Action("device.health", ("h",), "Health", "Show the phone's health check, with repairs.", _DEVICE, "Looking", 22),
    Action("device.read", ("r",), "Read again", "Refresh the elements, the log or the health check.", _DEVICE, "Looking", 11),
    Action("device.repair", ("f",), "Repair", "Repair the finding under the cursor, where the core can.", _DEVICE, "Looking", 9),
    Action("device.filter", ("slash",), "Filter", "Show only lines of the log that match; !word excludes; esc clears.", _DEVICE, "Looking", 12),
    Action("device.numbers", ("number_sign",), "Numbers", "Show or hide the element numbers on the picture.", _DEVICE, "Looking"),
    Action("device.text", ("t", "f5"), "Text or picture", "Show the phone's screen as text, refreshed as it changes; enter presses. Again: the picture.", _DEVICE, "Looking", 13),
    Action("device.closer", ("z", "f6"), "Zoom", "Zoom into the picture of the phone, up to 8×, then whole again; arrows move it, with shift while you drive. The mouse wheel zooms too, with ctrl while you drive.", _DEVICE, "Looking", 14),
    Action("device.farther", ("Z",), "Zoom out", "Zoom out of the picture of the phone.", _DEVICE, "Looking"),
    Action("device.copy", ("y",), "Copy", "Copy what is under the cursor, with all details.", _DEVICE, "Looking"),
    Action("device.next", ("right_square_bracket",), "Next phone", "Show the next phone.", _DEVICE, "Moving", 30),
    Action("device.previous", ("left_square_bracket",), "Previous phone", "Show the previous phone.", _DEVICE, "Moving"),
    Action("device.next_pane", ("tab",), "Next pane", "Go to the next pane; if not both fit, show it.", _DEVICE, "Moving"),
    Action("device.previous_pane", ("shift+tab",), "Previous pane", "Go to the previous pane.", _DEVICE, "Moving"),
    # --- settings
    Action("settings.edit", ("enter",), "Change", "Change the setting under the cursor; it is checked and saved in the file.", Where.SETTINGS, "Settings", own=True),
    Action("settings.filter", ("slash",), "Filter", "Show only settings that match; esc clears.", Where.SETTINGS, "Settings", 10),
    # --- the console
    Action("screen.deck", ("1",), "Deck", "Sessions, what waits for you, transcript and phone.", _ALL, "Screens"),
    Action("screen.wall", ("2",), "Wall", "Every phone live, as many as fit.", _ALL, "Screens", 39),
    Action("screen.jobs", ("3",), "Jobs", "The queue of scheduled work.", _ALL, "Screens", 40),
    Action("screen.history", ("4",), "History", "All stored sessions, and full-text search over them.", _ALL, "Screens", 41),
    Action("screen.settings", ("comma",), "Settings", "Every setting, what it means, and a place to change it.", _ALL, "Screens"),
    Action("app.palette", ("ctrl+p", "colon"), "Palette", "Find any action by name.", _ALL, "Console", 94),
    Action("app.model", ("M",), "Connect a model", "Connect a model by key, local server or login.", _ALL, "Console"),
    Action("app.help", ("question_mark", "f1"), "Help", "What the keys do here.", _ALL, "Console", 95),
    Action("app.theme", ("ctrl+t",), "Dark or light", "Switch between dark and light colours.", _ALL, "Console"),
    Action("app.themes", ("C",), "Colours", "Choose a colour theme; the choice is kept.", _ALL, "Console"),
    Action("app.suspend", ("ctrl+z",), "To the shell", "Suspend the console and go to the shell; fg returns. Press twice if running sessions would be suspended with it.", _ALL, "Console"),
    Action("app.quit", ("ctrl+q",), "Quit", "Leave the console; it first shows what keeps running.", _ALL, "Console", 96, in_text=True),
)  # fmt: skip

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}

# F1 and the palette's chord are no characters, so they can work while typing.
_CHORDS = {"ctrl+p", "f1", "ctrl+t"}

_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "comma": ",",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "number_sign": "#",
    "exclamation_mark": "!",
    "colon": ":",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "asterisk": "*",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "escape": "esc",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "f1": "F1",
    "f2": "F2",
    "f3": "F3",
    "f4": "F4",
    "f5": "F5",
    "f6": "F6",
    "ctrl+x": "^x",
    "ctrl+p": "^p",
    "ctrl+q": "^q",
    "ctrl+d": "^d",
    "ctrl+u": "^u",
    "ctrl+t": "^t",
    "ctrl+z": "^z",
}

KEY_OF_NAME = {name: key for key, name in _NAMES.items()}
"""Keys by how the operator reads them."""

MOVABLE = frozenset(
    {
        "view.down",
        "view.up",
        "view.first",
        "view.last",
        "view.page_down",
        "view.page_up",
        "wall.left",
        "wall.right",
        "question.wheel",
    }
)
"""Actions whose keys a keymap may change although widgets bind them: there they have the same id."""


PRESSED = frozenset({"enter", "space"})
"""Keys that the palette presses for the operator, where the focus was when it was opened."""

WAY_TO = {
    Where.DECK: ("On the Deck", "screen.deck"),
    Where.WALL: ("On the Wall", "screen.wall"),
    Where.JOBS: ("On the Jobs screen", "screen.jobs"),
    Where.HISTORY: ("In the History", "screen.history"),
    Where.REPLAY: ("In a replay", "session.replay"),
    Where.COMPARE: ("Where two sessions are compared", "history.compare"),
    Where.DEVICE: ("On the screen of a phone", "device.open"),
    Where.SETTINGS: ("In the Settings", "screen.settings"),
}
"""Where the actions of a screen can be done, and the action that leads there."""


def key_name(key: str) -> str:
    return _NAMES.get(key, key)


def bindings(where: Where) -> list[Binding]:
    """Make the bindings of a screen, or of the app for what works everywhere."""
    made: list[Binding] = []
    for action in ACTIONS:
        if action.where is not where or action.own:
            continue
        made.extend(
            Binding(
                key,
                f"app.act('{action.id}')",
                action.title,
                show=False,
                # On the replay the tape's keys go before those of the pane that has the focus.
                priority=action.in_text or key in _CHORDS or where is Where.REPLAY,
                id=action.id,
            )
            for key in action.keys
        )
    return made


def on_screen(where: Where) -> list[Action]:
    """List what can be done on a screen, its own actions first."""
    own = [action for action in ACTIONS if action.where is where]
    return own + [a for a in ACTIONS if a.where is Where.EVERYWHERE and where is not a.where]


def footer(where: Where) -> list[Action]:
    """List what the footer names, most useful first."""
    return sorted((a for a in on_screen(where) if a.rank), key=lambda action: action.rank)


_PLACES = {
    Where.EVERYWHERE: "Everywhere",
    Where.DECK: "Deck",
    Where.WALL: "Wall",
    Where.JOBS: "Jobs",
    Where.HISTORY: "History",
    Where.REPLAY: "Replay",
    Where.COMPARE: "Two sessions",
    Where.DEVICE: "Device",
    Where.SETTINGS: "Settings",
}


def as_markdown() -> str:
    """Write docs/keys.md."""
    lines = [
        "# Keys",
        "",
        "Made from `console/keys/actions.py` by `python -m console.keys.actions`; do not edit.",
        "",
        "`^x` is ctrl+x. Keys marked * also work while typing and over a dialog. The id names the",
        "action for good.",
        "",
        "Your own keys are in `keymap.toml` beside the settings file, each line an id and a key or",
        "a list of keys; the rest stay as they are. An unknown id, an unknown key or a key that is taken is",
        "reported when the console starts, and it does not open.",
        "",
        "```toml",
        "[session]",
        'stop = "X"',
        'pause = ["P", "f5"]',
        "[app]",
        'palette = "ctrl+k"',
        "```",
    ]
    for where, title in _PLACES.items():
        lines += [
            "",
            f"## {title}",
            "",
            "| key | action | what it does | id |",
            "|---|---|---|---|",
        ]
        for action in ACTIONS:
            if action.where is where:
                keys = " ".join(f"`{key_name(key)}`" for key in action.keys)
                star = " *" if action.in_text else ""
                lines.append(
                    f"| {keys}{star} | {action.title} | {action.sentence} | `{action.id}` |"
                )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from pathlib import Path

    Path("docs/keys.md").write_text(as_markdown(), encoding="utf-8")

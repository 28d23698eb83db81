"""Everything that the palette offers: gathered from the registry, the picture and the settings.

Not the order of it and not the doing. Invariant: every action, setting and verb is offered, also
where it cannot be done now, which its entry says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agent.config import parse_setting
from agent.errors import ConfigError
from agent.records import Session
from agent.settings import KEYS
from agent.text import one_line
from console.keys import actions
from console.keys.keymap import Keymap
from console.keys.unavailable import ONLY_LOOKS, WHY_NOT
from console.palette import commands
from console.palette.entry import Entry, Kind
from console.palette.handles import phone_handle, phone_of
from console.settings.setting_values import value_in_force
from widgets.base import status
from widgets.base.formatting import natural
from widgets.lists.history_rows import moment
from widgets.lists.session_rows import device_name, session_title

if TYPE_CHECKING:
    from console.base_app import ConsoleApp, TopScreen

MOST_SESSIONS = 300
"""So many of the newest are offered; the history has the rest."""
_EXPORTS = {"sessions report": "HTML page", "sessions movie": "film", "sessions export": "rollout"}
_WORDS = {
    "session.pause": "resume continue",
    "session.new": "goal start create",
    "app.quit": "exit",
    "app.model": "models setup login key provider",
}
"""Words that people look for an action by, beside those of its sentence."""


def offered(app: ConsoleApp) -> list[Entry]:
    """List every entry: what can be done here first."""
    return [
        *_actions(app),
        *_phones(app),
        *_sessions(app),
        *_jobs(app),
        *_settings(app),
        *_verbs(app),
    ]


def typed(app: ConsoleApp, text: str) -> list[Entry] | None:
    """List what a typed line is or may become; None where the text is no line of a known form."""
    head, space, rest = text.lstrip().partition(" ")
    match head.casefold() if space else "":
        case "set":
            return list(_setting_lines(app, rest.lstrip()))
        case "open":
            return list(_opened(app, rest.strip()))
        case _:
            if not commands.is_command(text):
                return None
    lends = app.has_terminal_to_lend
    return commands.completed(
        text.lstrip(), lambda name: _values(app, name), is_web=app.is_web, lends=lends
    )


# --- actions ----------


def _actions(app: ConsoleApp) -> Iterator[Entry]:
    top = app.top
    here = top.WHERE if top is not None else actions.Where.EVERYWHERE
    first = actions.on_screen(here)
    rest = [action for action in actions.ACTIONS if action not in first]
    for action in (*first, *rest):
        why = _why_not(top, action, here, app.keys)
        if app.only_looks and action.acts:
            why = ONLY_LOOKS
        yield Entry(
            Kind.ACTION,
            action.id,
            action.title,
            action.sentence,
            keys=app.keys.names(action),
            words=f"{action.group} {_WORDS.get(action.id, '')}",
            why_not=why,
        )


def _why_not(
    top: TopScreen | None, action: actions.Action, here: actions.Where, keys: Keymap
) -> str:
    """Return why an action cannot be done now; empty when it can."""
    if action.id == "app.palette":
        return "It is open."
    if action.id == f"screen.{here.value}":
        return "You are here."
    if action.where not in (actions.Where.EVERYWHERE, here):
        place, way = actions.WAY_TO[action.where]
        return f"{place}: press {keys.name(way)} first."
    if action.own and (len(action.keys) > 1 or action.keys[0] not in actions.PRESSED):
        return f"Press {' or '.join(map(actions.key_name, action.keys))} where it is needed."
    if top is None or top.can(action.id):
        return ""
    return WHY_NOT.get(action.id, "Not possible here.")


# --- what the picture holds ----------


def _phones(app: ConsoleApp) -> Iterator[Entry]:
    devices = app.bridge.state.devices
    for serial, device in sorted(devices.items(), key=lambda one: natural(one[0])):
        handle = phone_handle(serial, devices)
        word = status.of_device(device).word
        tags = " ".join(f"#{tag}" for tag in device.tags)
        sentence = one_line(f"Open the phone: {word} · {serial} {tags}", 200)
        yield Entry(
            Kind.PHONE,
            serial,
            f"Open {device_name(serial, devices)}",
            sentence,
            words=f"open {handle} {device.model}",
        )


def _sessions(app: ConsoleApp) -> Iterator[Entry]:
    state = app.bridge.state
    views = sorted(state.sessions.values(), key=lambda one: -one.session.updated_ms)
    listed = [view.session for view in views[:MOST_SESSIONS]]
    asking = {question.session_id for question in state.questions.values()}

    def which(one: Session) -> str:
        """Return what tells sessions of one goal apart: phone, state, time."""
        mark = status.of_session(one, asks=one.session_id in asking)
        phone = device_name(one.serial, state.devices) if one.serial else ""
        when = moment(one.created_ms, app.now_ms())
        return " · ".join(filter(None, (phone, f"{mark.glyph} {mark.word}", when)))

    told = {one.session_id: which(one) for one in listed}
    for one in listed:
        name = f"Open “{session_title(one)}”"
        yield Entry(Kind.SESSION, one.session_id, name, told[one.session_id], words="go to session")
    for one in listed:
        name = f"Replay {session_title(one)}"
        yield Entry(Kind.REPLAY, one.session_id, name, told[one.session_id])
    for one in listed:
        for verb, what in _EXPORTS.items():
            told_of = f"{what} · {told[one.session_id]}"
            yield Entry(
                Kind.EXPORT,
                f"{verb} {one.session_id}",
                f"Export {session_title(one)}",
                told_of,
                words="write save file report movie gif mp4",
            )


def _jobs(app: ConsoleApp) -> Iterator[Entry]:
    state = app.bridge.state
    for job in state.jobs.values():
        mark = status.JOB[job.status]
        name = f"Open job {job.id}: {one_line(job.title or job.prompt, 120)}"
        yield Entry(Kind.JOB, str(job.id), name, f"{mark.glyph} {mark.word}")
    for watcher in state.watchers.values():
        mark = status.WATCHER[watcher.status]
        name = f"Open watcher {watcher.id}: {one_line(watcher.title, 120)}"
        yield Entry(Kind.WATCHER, str(watcher.id), name, f"{mark.glyph} {mark.word}")
    for one in state.commitments.values():
        mark = status.COMMITMENT[one.status]
        name = f"Open commitment {one.id}: {one_line(one.title, 120)}"
        yield Entry(Kind.COMMITMENT, str(one.id), name, f"{mark.glyph} {mark.word}")


# --- settings ----------


def _settings(app: ConsoleApp) -> Iterator[Entry]:
    for key in KEYS.values():
        value = value_in_force(app.settings, key.name) or "empty"
        yield Entry(
            Kind.SETTING,
            key.name,
            f"set {key.name}",
            one_line(f"{value} · {key.description}", 200),
            completes=f"set {key.name} ",
            why_not="" if app.settings else "This console has no settings.",
        )


def _setting_lines(app: ConsoleApp, rest: str) -> Iterator[Entry]:
    """List what `set …` may become."""
    name, space, value = rest.partition(" ")
    if name not in KEYS or not space:
        from console.palette.ranking import search

        yield from search(list(_settings(app)), f"{name}") if name else _settings(app)
        return
    text = value.strip()
    why = "" if app.settings else "This console has no settings."
    if KEYS[name].is_secret:
        variable = KEYS[name].variable
        why = (
            why or f"It may contain a password: write it into the settings file, or set {variable}."
        )
        text = ""
    elif not text:
        why = why or "Type the value."
    else:
        try:
            parse_setting(name, text)
        except ConfigError as error:
            why = why or error.message
    now = value_in_force(app.settings, name) or "empty"
    sentence = one_line(f"now {now} · {KEYS[name].description}", 200)
    yield Entry(Kind.SETTING, name, f"set {name} {text}", sentence, why_not=why, line=text)


# --- opening by a word ----------


def _opened(app: ConsoleApp, rest: str) -> Iterator[Entry]:
    """List what `open …` may mean; `open @phone` names one phone."""
    from console.palette.ranking import search

    devices = app.bridge.state.devices
    if rest.startswith("@"):
        # As the lists show it, with spaces, a name means the same as its handle.
        wanted = "-".join(rest.removeprefix("@").casefold().split())
        exact = phone_of(wanted, devices)
        named = [(phone_handle(entry.about, devices), entry) for entry in _phones(app)]
        found = [
            (handle, entry)
            for handle, entry in named
            if entry.about == exact or wanted in handle.casefold()
        ]
        found.sort(key=lambda one: not one[0].casefold().startswith(f"@{wanted}"))
        yield from (entry._replace(name=f"open {handle}") for handle, entry in found)
        return
    yield from search([*_phones(app), *_sessions_only(app), *_jobs(app)], rest)


def _sessions_only(app: ConsoleApp) -> Iterator[Entry]:
    return (entry for entry in _sessions(app) if entry.kind is Kind.SESSION)


# --- verbs ----------


def _verbs(app: ConsoleApp) -> Iterator[Entry]:
    for verb in commands.verbs():
        why = commands.why_not(verb.path, is_web=app.is_web, lends=app.has_terminal_to_lend)
        yield Entry(
            Kind.COMMAND,
            verb.path,
            verb.path,
            verb.sentence,
            words="switchboard command",
            completes=f"{verb.path} ",
            why_not=why,
        )


_OF_SESSIONS = frozenset({"session_id", "other_id", "session"})
_OF_PHONES = frozenset({"serial", "device", "serials", "devices"})


def _values(app: ConsoleApp, name: str) -> Sequence[tuple[str, str]]:
    """List what may stand for a parameter of a verb, with a word about each."""
    state = app.bridge.state
    if name in _OF_SESSIONS:
        views = sorted(state.sessions.values(), key=lambda one: -one.session.updated_ms)
        return [(v.session.session_id, session_title(v.session)) for v in views[:MOST_SESSIONS]]
    if name in _OF_PHONES:
        return [
            (serial, device_name(serial, state.devices))
            for serial in sorted(state.devices, key=natural)
        ]
    match name:
        case "job_id":
            return [(str(job.id), job.title or job.prompt) for job in state.jobs.values()]
        case "watcher_id":
            return [(str(one.id), one.title) for one in state.watchers.values()]
        case "commitment_id":
            return [(str(one.id), one.title) for one in state.commitments.values()]
        case _:
            return ()

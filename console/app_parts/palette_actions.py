"""Do what was chosen in the palette.

Not the finding. Invariants: what is chosen is done by the same code as its key; a verb runs as a
process of its own, which reaches this console's core as any other shell does.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, assert_never

from agent.config import load_settings
from agent.errors import SwitchboardError
from console.input.gate import Wait
from console.keys import actions
from console.palette import commands
from console.palette.entry import Entry, Kind
from console.palette.handles import phone_of
from console.settings.setting_values import write_typed

MODELS_SETUP = "models setup"

if TYPE_CHECKING:
    from console.base_app import ConsoleApp


async def carry_out(app: ConsoleApp, entry: Entry) -> None:
    """Do an entry, or say why it cannot be done now."""
    if entry.why_not:
        app.say(f"{entry.name}: {entry.why_not}")
        return
    app.recent.note(entry.key)
    match entry.kind:
        case Kind.ACTION:
            await _act(app, entry.about)
        case Kind.SESSION:
            app.navigation.show_session(entry.about)
        case Kind.REPLAY:
            from console.screens.history.replay import ReplayScreen

            app.push_screen(ReplayScreen(entry.about))
        case Kind.PHONE:
            app.navigation.show_device(entry.about)
        case Kind.JOB | Kind.WATCHER | Kind.COMMITMENT:
            _show_record(app, entry.kind, int(entry.about))
        case Kind.SETTING:
            try:
                write_typed(app, entry.about, entry.line)
            except SwitchboardError as error:
                app.say(str(error), tone="warning")
        case Kind.EXPORT:
            _export(app, entry.about)
        case Kind.COMMAND:
            _run(app, commands.split(entry.line).all_words)
        case Kind.OPTION:
            pass
        case _:
            assert_never(entry.kind)


async def _act(app: ConsoleApp, action_id: str) -> None:
    action = actions.BY_ID[action_id]
    if action.own:
        await app.keyboard.press(action.keys[0])
    else:
        await app.action_act(action_id)


def _show_record(app: ConsoleApp, kind: Kind, number: int) -> None:
    from console.screens.jobs.jobs import JobsScreen
    from console.screens.jobs.jobs_lists import Tab

    tabs = {Kind.WATCHER: Tab.WATCHERS, Kind.COMMITMENT: Tab.COMMITMENTS}
    app.navigation.do_screen_deck()
    app.push_screen(JobsScreen(tabs.get(kind, Tab.JOBS), number))


def _export(app: ConsoleApp, line: str) -> None:
    """Write a session as a verb does; a browser gets the file, which a process would keep here."""
    if not app.is_web:
        _run(app, line.split())
        return
    from console.report.writing import Kind as File
    from console.screens.history.session_export import export

    verb, _, session_id = line.rpartition(" ")
    files = {"sessions report": File.PAGE, "sessions movie": File.GIF}
    app.say("Writing …")
    work = export(app, session_id, files.get(verb, File.ROLLOUT), lambda done, total: None)
    app.spawn(work, f"writing {verb}", Wait.NOT)


def _run(app: ConsoleApp, words: list[str]) -> None:
    """Run a verb: on the lent terminal where it asks, else with its output in a dialog."""
    from console.screens.dialogs.output import OutputScreen
    from console.terminal.editor import lend_terminal

    devices = app.bridge.state.devices
    words = [phone_of(one, devices) or one if one.startswith("@") else one for one in words]
    command = [sys.executable, "-m", "console", *_places(app), *words]
    verb = commands.verb_of(words)
    if verb is not None and verb.path == MODELS_SETUP:
        app.spawn(_connect(app, command), "connecting a model", Wait.NOT)
    elif verb is not None and verb.path in commands.ASKS:
        app.spawn(lend_terminal(app, command, waits=True), verb.path, Wait.NOT)
    else:
        app.push_screen(OutputScreen(words, command))


def connect_model(app: ConsoleApp) -> None:
    """Ask on the terminal which model is to be used, and say from when it is."""
    why = commands.why_not(MODELS_SETUP, is_web=app.is_web, lends=app.has_terminal_to_lend)
    if why:
        app.say(f"{why} The command is: switchboard {MODELS_SETUP}")
        return
    command = [sys.executable, "-m", "console", *_places(app), *MODELS_SETUP.split()]
    app.spawn(_connect(app, command), "connecting a model", Wait.NOT)


async def _connect(app: ConsoleApp, command: list[str]) -> None:
    from console.terminal.editor import lend_terminal

    if await lend_terminal(app, command, waits=True) != 0:
        app.say("No model was connected; the one in use stays.", tone="warning")
        return
    _take_up(app)


def _take_up(app: ConsoleApp) -> None:
    """Begin sessions with the model that was connected, where the core that runs can ask it."""
    before = app.settings
    if before is None:
        return
    data_dir = os.fspath(before.data_dir)
    config = before.config_file if before.config_file.exists() else None
    now = load_settings(overrides={"data_dir": data_dir}, config_file=config).model
    again = (
        "once the core is started again: leave and open the console, or `switchboard daemon stop`"
    )
    if now.base_url != before.model.base_url:
        # Where a model is asked is the core's own, and stays as it was when that started.
        app.say(f"The model is {now.name}: {again}.")
        return
    app.begins_with = now.name
    app.say(f"Sessions that you start here use {now.name}. Jobs use it {again}.")


def _places(app: ConsoleApp) -> list[str]:
    """Return the options that name this console's data directory, settings file and core."""
    settings = app.settings
    if settings is None:
        return []
    places = ["--data-dir", os.fspath(settings.data_dir)]
    if settings.config_file.exists():
        places += ["--config", os.fspath(settings.config_file)]
    if settings.core.address:
        places += ["--core", settings.core.address]
    return places

"""Control the apps of the Deck's sessions: show, hide, attach; handle taps on sessions.

Invariant: statements about an app are the core's observations.
"""

from agent.protocol import TargetControl
from agent.records import Session, SessionState, TargetAction, TargetRuntime, TargetStatus
from console.input.gate import Wait
from console.keys.controllers import Controller
from console.screens.deck.context import DeckContext

_DETACHED = frozenset({TargetRuntime.DETACHED_HIDDEN, TargetRuntime.DETACHED_SHOWN})
_DONE = {
    TargetAction.SHOW: "shown on a display of its own",
    TargetAction.HIDE: "hidden",
    TargetAction.ATTACH: "on the phone's main display",
}


class TargetController(Controller):
    """The apps of sessions.

    Args:
        deck: whose sessions they are.
    """

    def __init__(self, deck: DeckContext) -> None:
        self._deck = deck

    def can(self, action_id: str) -> bool:
        view = self._deck.view()
        if view is None or not (view.session.target_package and view.session.serial):
            return False
        runtime = view.session.target_runtime
        match action_id:
            case "target.show":
                return runtime is not TargetRuntime.DETACHED_SHOWN
            case "target.hide":
                return runtime is not TargetRuntime.DETACHED_HIDDEN
            case _:
                return runtime is not TargetRuntime.ATTACHED

    def do_target_show(self) -> None:
        """Show the selected session's app on a separate display."""
        self._control(TargetAction.SHOW)

    def do_target_hide(self) -> None:
        """Move the selected session's app to a hidden display."""
        self._control(TargetAction.HIDE)

    def do_target_attach(self) -> None:
        """Move the selected session's app to the phone's main display."""
        self._control(TargetAction.ATTACH)

    def _control(self, action: TargetAction) -> None:
        view = self._deck.view()
        if view is None:
            self._deck.ops.say("No session here. Press n to start one.")
            return
        if not (view.session.target_package and view.session.serial):
            self._deck.ops.say("This session has no app of its own on a phone.")
            return
        doing = f"on {action.value} of an app"
        self._deck.ops.spawn(self._move(view.session, action), doing, Wait.NOT)

    async def _move(self, session: Session, action: TargetAction) -> None:
        op = TargetControl(session_id=session.session_id, action=action)
        reply = await self._deck.ops.ask(op)
        result = reply.target if reply is not None else None
        if result is None:
            return
        if result.status is TargetStatus.OK:
            self._deck.ops.say(f"{session.target_package} is {_DONE[action]}.")
        else:
            why = result.message or result.status.value
            self._deck.ops.say(f"{session.target_package}: {why}", tone="warning")

    def tap(self) -> None:
        """Handle a tap on a session: answer, show its app, start a draft, or read it."""
        view = self._deck.view()
        if view is None:
            return
        session, asked = view.session, self._deck.open_questions()
        if asked:
            self._deck.go_to_card()
            return
        if session.state is SessionState.CREATED:
            self._deck.go_to_composer()
            return
        works = session.state is SessionState.RUNNING and session.target_package
        if works and session.target_runtime is TargetRuntime.DETACHED_HIDDEN:
            self._control(TargetAction.SHOW)
        elif works and session.target_runtime not in _DETACHED | {TargetRuntime.ATTACHED}:
            self._control(TargetAction.ATTACH)
        self._deck.go_to_transcript()

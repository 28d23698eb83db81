"""Start a session on the Deck, or a draft for an app.

Invariants: a refused goal returns to the composer, and starts one session however often it is sent;
keys after a goal was sent apply to its session, even before the core has reported it.
"""

from secrets import token_hex

from msgspec.structs import replace

from agent.errors import UsageError
from agent.placement.needs import parse_needs
from agent.protocol import Interrupt, SessionCreate
from console.keys.controllers import Controller
from console.palette.handles import Placed, servers_in
from console.screens.deck.context import DeckContext
from widgets.base.rows import Parts
from widgets.questions.composer import Mode, Purpose

MOST_RECALLED = 500
_AWAITED = frozenset({"session.stop", "session.pause", "session.cancel", "session.write"})
"""The actions that a session takes which was begun and is not there yet."""
_NOT_YET = "The new session is still being created: press the key again in a moment."


class BeginController(Controller):
    """The creation of sessions.

    Args:
        deck: where the session will be selected.
    """

    def __init__(self, deck: DeckContext) -> None:
        self._deck = deck
        self.begins = False
        """Whether the composer asks for what begins a session."""
        self.drafts = False
        """Whether what is begun is a draft for one app."""
        self._awaited: set[str] = set()
        """The ids of requests for sessions that the core has not answered; selected as such."""
        self._stopped: set[str] = set()
        """Those of them that are to be stopped."""
        self._refused: dict[tuple[str, str, bool], str] = {}
        """The ids of requests that failed, by text, device and whether it was a draft."""

    def do_session_new(self) -> None:
        self.begins, self.drafts = True, False
        self._deck.answer_later()
        self._deck.refresh_all()
        self._deck.go_to_composer()

    def purpose(self) -> tuple[Purpose, Parts] | None:
        if not self.begins:
            return None
        return Purpose(Mode.DRAFT if self.drafts else Mode.NEW, ""), ()

    def switch(self) -> None:
        """Switch between a goal and a draft for one app."""
        self.drafts = not self.drafts
        self._deck.refresh_all()
        self._deck.go_to_composer()

    def begin(self, goal: str, serial: str) -> None:
        """Start a session; from now on keys apply to it."""
        placed = Placed(goal, self._deck.state.devices)
        why = ""
        try:
            parse_needs(placed.needs)
        except UsageError as error:
            why = f"{error.message} {error.remedy}"
        if placed.unknown:
            why = f"No phone with the tag {placed.unknown} is online."
        elif not placed.goal:
            why = f"Write what should be done on {goal.strip()}."
        if why:
            self._deck.ops.say(why, tone="warning")
            self._give_back((goal, serial, False))
            return
        where = "" if placed.needs else placed.serial or serial
        self._await(placed.goal, where, drafts=False, needs=placed.needs)

    def earlier_goals(self) -> list[str]:
        """List earlier goals from here, as the core stores them, newest first."""
        views = self._deck.state.sessions.values()
        listed = [
            view.session
            for view in views
            if view.session.goal and not (view.session.parent_id or view.session.job_id)
        ]
        listed.sort(key=lambda session: -session.created_ms)
        return list(dict.fromkeys(session.goal for session in listed))[:MOST_RECALLED]

    def draft(self, text: str, serial: str) -> None:
        """Create a draft for one app, which ends with this console unless it is started."""
        self._await(text, serial, drafts=True)

    @property
    def is_awaited(self) -> bool:
        """Return whether the selected session was created here and the core has not reported it."""
        return self._deck.selected in self._awaited

    def awaits(self, action_id: str) -> bool:
        """Return whether an action is for a session that the core has not reported."""
        return self.is_awaited and action_id in _AWAITED

    def stop_awaited(self) -> None:
        """Stop the new session as soon as it exists."""
        self._stopped.add(self._deck.selected)
        self._deck.ops.say("It is still being created and will be stopped as soon as it exists.")

    def comes_too_early(self) -> bool:
        """Return True, and say so, if a key is for a session that does not exist yet."""
        if self.is_awaited:
            self._deck.ops.say(_NOT_YET)
        return self.is_awaited

    # --- how ----------

    def _await(self, text: str, serial: str, *, drafts: bool, needs: str = "") -> None:
        """Send the op that creates a session, and select its future row."""
        written = (f"{text} @{needs}" if needs else text, serial, drafts)
        # The same again after a refusal that was none: the core begins it once.
        request_id = self._refused.pop(written, "") or token_hex(8)
        before = self._deck.selected
        self._awaited.add(request_id)
        self._deck.look_at_new(request_id)
        model = self._deck.ops.begins_with
        goal, servers = servers_in(text, self._deck.ops.tool_servers)
        op = _creation(goal, serial, request_id, model=model, drafts=drafts)
        op = replace(op, tool_servers=servers, phone_needs=needs)
        doing = "keeping a draft" if drafts else "beginning a session"
        self._deck.ops.spawn(self._begin(op, written, before), doing)

    async def _begin(self, op: SessionCreate, written: tuple[str, str, bool], before: str) -> None:
        reply = await self._deck.ops.ask(op)
        is_selected = self._deck.selected == op.request_id
        self._awaited.discard(op.request_id)
        if reply is None:
            self._refused[written] = op.request_id
            if is_selected:
                self._deck.select(before)
            self._give_back(written)
            return
        if op.request_id in self._stopped:
            self._stopped.discard(op.request_id)
            self._deck.ops.request(Interrupt(session_id=reply.session_id))
        if is_selected:
            self._deck.look_at_new(reply.session_id)
        if written[2]:
            said = "Draft created. p starts it; unless started, it ends with this console."
            self._deck.ops.say(said)
        self._deck.refresh_all()

    def _give_back(self, written: tuple[str, str, bool]) -> None:
        """Return a refused text to its field, unless the field has other text."""
        text, serial, drafts = written
        purpose = Purpose(Mode.DRAFT if drafts else Mode.NEW, "")
        if self._deck.give_back(purpose, text, serial):
            self._deck.ops.say("n shows the goal that was refused.")
        else:
            self.begins, self.drafts = True, drafts
        self._deck.refresh_all()


def _creation(
    text: str, serial: str, request_id: str, *, model: str, drafts: bool
) -> SessionCreate:
    if not drafts:
        return SessionCreate(goal=text, serial=serial, model=model, request_id=request_id)
    package, _, goal = text.strip().partition(" ")
    return SessionCreate(
        goal=goal.strip(),
        target_package=package,
        serial=serial,
        model=model,
        start=False,
        hold=True,
        request_id=request_id,
    )

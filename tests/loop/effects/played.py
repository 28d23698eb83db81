"""Screens and acts as a session stores them, played to a finder of effects."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent import protocol
from agent.loop.effects.finder import EffectFinder
from agent.loop.screen.changes import fingerprint
from agent.loop.screen.elements import number_elements
from agent.records import (
    ActionOutcome,
    Element,
    Foreground,
    Frame,
    Ledger,
    Observation,
    SeenEffect,
    UiNode,
)

APP = "org.example.app"


def seen(
    nodes: Sequence[UiNode],
    *,
    activity: str = ".Main",
    package: str = APP,
    toast: str = "",
    keyboard: bool = False,
    note: str = "",
    loading: bool = False,
    frame: Frame | None = None,
) -> Observation:
    front = Foreground(package=package, activity=activity, keyboard_shown=keyboard)
    elements = number_elements(nodes, redact=lambda text: text)
    return Observation(
        started_ms=0,
        ended_ms=1,
        foreground=front,
        elements=elements,
        fingerprint=fingerprint(front, elements),
        toast=toast,
        tree_note=note,
        is_loading=loading,
        frame=frame,
    )


@dataclass
class Played:
    """A session whose screens and acts a test names, one after the other."""

    finder: EffectFinder = field(default_factory=lambda: EffectFinder("phone-1"))
    step: int = 0
    screen: Observation | None = None
    calls: int = 0
    events: list[protocol.EventMsg] = field(default_factory=list)

    def see(self, screen: Observation) -> tuple[SeenEffect, ...]:
        """Show the next step's screen; return the effects that it shows."""
        self.step += 1
        self._store(protocol.StepStarted(step=self.step))
        found = self.finder.find(self.step, screen)
        self._store(protocol.ObservationRecorded(step=self.step, observation=screen))
        if found:
            self._store(protocol.EffectsSeen(step=self.step, effects=found))
        self.screen = screen
        return found

    def act(
        self,
        tool: str,
        element: Element | str | None = None,
        *,
        outcome: ActionOutcome = ActionOutcome.DONE,
        said: str = "OK: Done.",
        **arguments: object,
    ) -> str:
        """Do something to the newest screen; an element may be named by its label."""
        if isinstance(element, str):
            element = self.element(element)
        self.calls += 1
        call_id = f"c{self.calls}"
        self._store(
            protocol.ToolCallRequested(
                step=self.step,
                call_id=call_id,
                tool=tool,
                arguments=json.dumps(arguments),
                element=element,
            )
        )
        self._store(
            protocol.ToolCallFinished(step=self.step, call_id=call_id, outcome=outcome, text=said)
        )
        return call_id

    def press(self, element: Element | str) -> str:
        return self.act("click_element", element)

    def back(self) -> str:
        return self.act("press_button", button="BACK")

    def element(self, label: str) -> Element:
        assert self.screen is not None
        return next(e for e in self.screen.elements if e.label == label)

    @property
    def ledger(self) -> Ledger:
        return self.finder.ledger

    def told(self) -> list[tuple[str, str, str, str]]:
        """Return kind, object, before and after of all effects."""
        return [(e.kind.value, e.object, e.before, e.after) for e in self.ledger]

    def _store(self, msg: protocol.EventMsg) -> None:
        self.events.append(msg)
        self.finder.fold(msg)

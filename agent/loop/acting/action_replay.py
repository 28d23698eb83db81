"""Go by what another session did: find each of its elements again, and know when to ask the model.

Pure: screens in, tool calls out. Not the doing, which passes the same guards as what a model chose.
Invariants: an element is found by what it is, never by where it was, and only when it is the one
such element; a switch that already stands as it was left is not touched; after an action that
did not do what it did then, the model is asked before the route goes on.
"""

import json
from collections.abc import Callable, Iterable, Sequence

from agent.models.model import ToolCall
from agent.protocol import Event, RouteGiven, ToolCallRequested
from agent.records import ActionOutcome, Element, Observation, RouteAction

LOOK_AHEAD = 4
"""How many actions may be left out when the model has gone another way to the same place."""
_CALL = "route_"
PLANS = "update_plan"
"""Part of a route, so that whoever takes over knows where in the plan it stands."""
ANYWHERE = frozenset({"launch_app", PLANS})


class Route:
    """The actions that are left to do.

    Args:
        actions: all of them, in order.
        position: how many are done or left out.
    """

    def __init__(self, actions: Sequence[RouteAction], position: int = 0) -> None:
        self._actions = tuple(actions)
        self.position = position
        self._asks = False
        self._has_strayed = False

    @classmethod
    def of(cls, history: Iterable[Event]) -> "Route":
        """Take up the route that a session was given, where it was left; else an empty one."""
        route = cls(())
        for event in history:
            match event.msg:
                case RouteGiven(actions=actions):
                    route = cls(actions)
                case ToolCallRequested(call_id=call_id) if call_id.startswith(_CALL):
                    number = call_id.removeprefix(_CALL)
                    if number.isdecimal():
                        route.position = int(number) + 1
                case _:
                    pass
        return route

    @property
    def is_over(self) -> bool:
        """Whether nothing is left of it."""
        return self.position >= len(self._actions)

    def next(self, screen: Observation) -> ToolCall | None:
        """Return the next action as a call for this screen; None when the model has to choose."""
        if self._asks:
            self._asks, self._has_strayed = False, True
            return None
        ahead = LOOK_AHEAD if self._has_strayed else 0
        at = self.position
        while at < len(self._actions) and at <= self.position + ahead:
            action = self._actions[at]
            found = None if action.element is None else find(action.element, screen.elements)
            if found is not None and _is_done(action, found):
                if at == self.position:
                    self.position += 1
                at += 1
                continue
            # An action without an element fits many screens: it is never looked ahead to.
            fits = found is not None or (
                action.element is None and at == self.position and _is_in_place(action, screen)
            )
            if fits:
                call = _call(at, action, found)
                if call is not None:
                    self.position, self._has_strayed = at + 1, False
                    return call
            at += 1
        self._has_strayed = True
        return None

    def on_result(self, call_id: str, outcome: ActionOutcome, text: str) -> None:
        """Take in what an action came to."""
        if call_id.startswith(_CALL) and (
            outcome is not ActionOutcome.DONE or text.startswith("WARNING")
        ):
            self._asks = True


def find(wanted: Element, elements: Sequence[Element]) -> Element | None:
    """Find an element again by its identity; None when there is none, or more than one.

    By id and words, by words, by id, by its first words: the first of these that one element of the
    same app and kind meets. An id alone names only a field or what has no words: the rows of a list
    share theirs, and the one row that is there now may be another's.
    """
    same = [
        element
        for element in elements
        if (element.package, element.class_name) == (wanted.package, wanted.class_name)
        and element.enabled
    ]
    head = _head(wanted.label)
    named = bool(wanted.resource_id)
    tests: tuple[Callable[[Element], bool], ...] = (
        lambda e: (
            (named or bool(head)) and (e.resource_id, e.label) == (wanted.resource_id, wanted.label)
        ),
        lambda e: bool(wanted.label) and e.label == wanted.label,
        lambda e: (
            named
            and (wanted.editable or not wanted.label)
            and (e.resource_id, e.editable) == (wanted.resource_id, wanted.editable)
        ),
        lambda e: bool(head) and _head(e.label) == head,
    )
    for test in tests:
        found = [element for element in same if test(element)]
        if len(found) == 1:
            return found[0]
        if found:
            return None
    return None


def _head(label: str) -> str:
    """Return the words before the first bar: a row's title, without what it says of its state."""
    return label.partition(" | ")[0].strip().casefold()


def _is_done(action: RouteAction, found: Element) -> bool:
    was = action.element
    toggles = action.tool == "click_element" and was is not None and was.checkable
    return toggles and was is not None and found.checkable and found.checked != was.checked


def _is_in_place(action: RouteAction, screen: Observation) -> bool:
    # Apps are started and plans written anywhere; a key or a swipe goes to whatever is in front.
    return action.tool in ANYWHERE or action.package == screen.foreground.package


def _call(at: int, action: RouteAction, found: Element | None) -> ToolCall | None:
    try:
        given = json.loads(action.arguments or "{}")
    except ValueError:
        return None
    if not isinstance(given, dict):
        return None
    if found is not None:
        given["element"] = found.number
    arguments = json.dumps(given, ensure_ascii=False)
    return ToolCall(call_id=f"{_CALL}{at}", name=action.tool, arguments=arguments)

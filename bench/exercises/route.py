"""A route: how somebody who knows a phone reaches a goal, as steps on what a prompt shows.

Pure. The fallible models follow routes, with nothing but the prompt to see by. Invariant: whether a
step is behind or ahead is read from the conversation alone, so a model that is shown less of it
knows less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from agent.exercises.route import Ask, Await, Back, Hold, Launch, Step, Tap, Write
from agent.models.pilot.reading import Item, PastAction, View
from agent.text import one_line

GONE_ELSEWHERE = ("NEW SCREEN", "NEW APP")
_OUT_OF_APP = "this session belongs to"
"""What a refusal says that is about being in the wrong app, and so no answer of anybody's."""
_PATIENCE = 3  # How often one waits for something that is not there before one looks elsewhere.


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: dict[str, object]


def name_of(step: Step) -> str:
    match step:
        case Launch(package=package):
            return f"Open {package}"
        case Tap(label=label):
            return f"Tap {label}"
        case Hold(label=label):
            return f"Hold {label}"
        case Write(text=text):
            return f"Write {one_line(text, 40)}"
        case Back():
            return "Go back"
        case Ask(question=question):
            return f"Ask: {one_line(question, 40)}"
        case Await(words=words):
            return f"Wait for {one_line(words, 40)}"
        case _:
            assert_never(step)


def next_call(view: View, route: Sequence[Step], *, from_step: int = 0) -> Call:
    """Choose what to do next.

    Args:
        view: what the prompt shows.
        route: the steps.
        from_step: how many of them are known to be done from elsewhere, such as a plan's marks.
    """
    if any(act.refused and _OUT_OF_APP not in act.result for act in view.done):
        return Call("finish", {"success": False, "summary": "The operator said no."})
    acts = _since_plan(view.done, from_step)
    at, since, spent = _progress(acts, route, from_step)
    while at < len(route) and isinstance(step := route[at], Await) and _shows(view, step.words):
        at += 1
    if at >= len(route):
        return Call("finish", {"success": True, "summary": "Every step is done."})
    if _left_route(acts, spent):
        return Call("press_button", {"button": "BACK"})
    step = route[at]
    chosen = _do(step, view)
    if chosen is None and isinstance(step, Tap) and step.optional and at + 1 < len(route):
        chosen = _do(route[at + 1], view)
    return chosen if chosen is not None else _search(view, since, awaits=isinstance(step, Await))


def steps_done(view: View, route: Sequence[Step], *, from_step: int = 0) -> int:
    return _progress(_since_plan(view.done, from_step), route, from_step)[0]


def _since_plan(acts: Sequence[PastAction], from_step: int) -> Sequence[PastAction]:
    """Leave out what a plan's marks speak of already."""
    plans = [at for at, act in enumerate(acts) if act.tool in {"update_plan", "remember"}]
    return acts[plans[-1] + 1 :] if from_step and plans else acts


def _progress(
    acts: Sequence[PastAction], route: Sequence[Step], from_step: int
) -> tuple[int, Sequence[PastAction], set[int]]:
    """Return the next step, the actions since the last one that was of use, and which were."""
    at, last = from_step, -1
    used: set[int] = set()
    stray = False
    for index, act in enumerate(acts):
        if stray and act.tool == "press_button":
            stray = False
            continue
        while at < len(route):
            step = route[at]
            if _is(step, act):
                at, last = at + 1, index
                used.add(index)
                break
            if not (_may_be_skipped(step) and at + 1 < len(route)):
                stray = stray or any(word in act.result for word in GONE_ELSEWHERE)
                break
            if not _is(route[at + 1], act):
                break
            at += 1
    return at, acts[last + 1 :], used


def _may_be_skipped(step: Step) -> bool:
    return isinstance(step, Await) or (isinstance(step, Tap) and step.optional)


def _shows(view: View, words: str) -> bool:
    return any(words.casefold() in item.label.casefold() for item in view.items)


def _is(step: Step, act: PastAction) -> bool:
    if act.result.startswith(("FAILED", "BLOCKED", "ERROR")) or act.refused:
        return False
    match step:
        case Launch(package=package):
            return act.tool == "launch_app" and act.arguments.get("app") == package
        case Tap(label=label):
            return act.tool == "click_element" and same_label(label, act.label)
        case Hold(label=label):
            return act.tool == "long_press_element" and same_label(label, act.label)
        case Write(text=text):
            return act.tool == "type_text" and act.arguments.get("text") == text
        case Back():
            return act.tool == "press_button" and act.arguments.get("button") == "BACK"
        case Ask(question=question):
            return act.tool == "ask_user" and act.arguments.get("question") == question
        case Await():
            return False
        case _:
            assert_never(step)


def _left_route(acts: Sequence[PastAction], used: set[int]) -> bool:
    """Return whether the last action led somewhere that the route does not."""
    if not acts or len(acts) - 1 in used:
        return False
    last = acts[-1]
    moved = any(word in last.result for word in GONE_ELSEWHERE)
    return moved and last.tool in {"click_element", "long_press_element"}


def _do(step: Step, view: View) -> Call | None:
    """Do a step on the screen that is shown; None when it cannot be done there."""
    match step:
        case Launch(package=package):
            return Call("launch_app", {"app": package})
        case Tap(label=label, kind=kind, nth=nth):
            found = [
                i for i in view.clickable() if same_label(label, i.label) and kind in ("", i.kind)
            ]
            return _on("click_element", found, nth)
        case Hold(label=label):
            return _on(
                "long_press_element", [i for i in view.items if same_label(label, i.label)], 1
            )
        case Write(text=text, field=name, clear=clear):
            fields = [
                i for i in view.fields() if not name or same_label(name, i.label) or name == i.id
            ]
            if not fields:
                return None
            arguments: dict[str, object] = {"text": text, "element": fields[0].number}
            return Call("type_text", arguments | ({"clear": True} if clear else {}))
        case Back():
            return Call("press_button", {"button": "BACK"})
        case Ask(question=question, options=options):
            return Call("ask_user", {"question": question, "options": list(options)})
        case Await():
            return None
        case _:
            assert_never(step)


def _on(tool: str, found: Sequence[Item], nth: int) -> Call | None:
    return Call(tool, {"element": found[nth - 1].number}) if len(found) >= nth else None


def _search(view: View, since: Sequence[PastAction], *, awaits: bool) -> Call:
    """Look for what is not shown: ask for the rest of the screen, wait, scroll, then give up."""
    if view.hidden:
        return Call("more_elements", {})
    waits = sum(act.tool == "wait" for act in since)
    if not waits or (waits < _PATIENCE and (awaits or not view.items)):
        return Call("wait", {"seconds": 1})
    scrolls = [act for act in since if act.tool == "scroll"]
    ends = sum(not act.ok for act in scrolls)
    if view.scrollable and ends < 2 and len(scrolls) < 24:
        return Call("scroll", {"direction": "up" if ends else "down"})
    if sum(act.tool == "press_button" for act in since) < 2:
        return Call("press_button", {"button": "BACK"})
    return Call("finish", {"success": False, "summary": "I do not find the next step."})


def same_label(name: str, label: str) -> bool:
    """Return whether a label's first part, or all of it, is called so."""
    wanted = " ".join(name.split()).casefold()
    shown = " ".join(label.split()).casefold()
    return wanted in (shown, shown.split(" | ", 1)[0])

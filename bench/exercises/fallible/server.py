"""Serve the fallible models over the OpenAI wire, on a loopback port of their own.

A real HTTP endpoint: the loop's own client talks to it as to any other. Invariant: what a model
knows of the phone is the request's body; the suite lends it the routes, by the goal it reads there.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import Any

from agent.exercises.route import Step
from agent.loop.conversation.masking import estimate_tokens
from agent.loop.conversation.prompts import operator_text
from agent.models.model import Message, MessageKind, Role, ToolCall
from agent.models.pilot.reading import read
from bench.exercises.fallible.flaws import Flaw, think
from bench.exercises.fallible.verdicts import asked_goal, verdict
from bench.exercises.fallible.wording import cut_off, in_words
from tests.openai_server import Reply, Script, Tool, openai_server

PREFIX = "fallible-"
_MUSING = "I see where this is going. Let me think about it a little more."


@asynccontextmanager
async def fallible_models(
    routes: Mapping[str, Sequence[Step]], *, seed: int, tracker: bool = True
) -> AsyncIterator[str]:
    """Serve `fallible-<flaw>` for every flaw; returns the base URL.

    Args:
        routes: by goal.
        seed: of the models' chances.
        tracker: whether the models keep a plan.
    """
    async with openai_server(answers(routes, seed=seed, tracker=tracker)) as server:
        yield server.base_url


def answers(routes: Mapping[str, Sequence[Step]], *, seed: int, tracker: bool = True) -> Script:
    """Return what answers a request for any of the models; see `fallible_models`."""

    # As the prompt has them: a PIN in a goal is redacted there.
    shown = {operator_text(goal): route for goal, route in routes.items()}

    def script(request: dict[str, Any]) -> Reply:
        messages = messages_of(request["messages"])
        flaw = Flaw(str(request["model"]).removeprefix(PREFIX))
        judged = asked_goal(messages)
        if judged is not None:
            said = verdict(messages, shown.get(judged, ()), flaw)
            return replace(_say(said.tool, said.arguments), prompt_tokens=estimate_tokens(messages))
        route = shown.get(read(messages).goal)
        if route is None:
            return _say("finish", {"success": False, "summary": "I do not know how to do this."})
        call = think(messages, route, flaw, seed, tracker=tracker)
        tokens = estimate_tokens(messages)
        if not call.tool:
            return Reply(text=_MUSING, prompt_tokens=tokens)
        chance = Random(f"{seed} {len(messages)} {call.tool}")
        match flaw:
            case Flaw.TEXTER:
                reply = in_words(call.tool, call.arguments, chance)
            case Flaw.TRUNCATED:
                room = int(request.get("max_completion_tokens") or 0)
                reply = cut_off(call.tool, call.arguments, room, chance)
            case _:
                reply = _say(call.tool, call.arguments)
        return replace(reply, prompt_tokens=tokens)

    return script


def _say(tool: str, arguments: Mapping[str, object]) -> Reply:
    return Reply(tools=(Tool(tool, json.dumps(arguments, ensure_ascii=False)),))


def messages_of(raw: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Read a request's messages; what each of them is follows from its role and its words."""
    return [_message(one) for one in raw]


def _message(raw: Mapping[str, Any]) -> Message:
    role = Role(raw["role"]) if raw["role"] in set(Role) else Role.SYSTEM
    content = raw.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if part.get("type") == "text")
    calls = tuple(
        ToolCall(
            call_id=call["id"],
            name=call["function"]["name"],
            arguments=call["function"]["arguments"],
        )
        for call in raw.get("tool_calls") or ()
    )
    return Message(
        role=role,
        kind=_kind(role, content),
        text=content,
        tool_calls=calls,
        call_id=raw.get("tool_call_id", ""),
    )


def _kind(role: Role, text: str) -> MessageKind:
    match role:
        case Role.SYSTEM:
            return MessageKind.INSTRUCTIONS
        case Role.ASSISTANT:
            return MessageKind.REPLY
        case Role.TOOL:
            return MessageKind.RESULT
        case Role.USER if text.startswith(("## Goal", "## New goal", "## The same goal")):
            return MessageKind.GOAL
        case Role.USER if text.startswith("You did not call a tool"):
            return MessageKind.RESULT
        case Role.USER if text.startswith(("[Screen: ", "Steps left: ")):
            return MessageKind.OBSERVATION
        case _:
            return MessageKind.STEER

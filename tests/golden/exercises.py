"""Sessions of the pilot on virtual phones: their events, and each prompt as a model gets it.

Everything is real but the model, which is the offline pilot. Ids, times and whatever else a clock
or chance decides is taken out, so that the same program draws the same twice.
"""

import hashlib
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from agent.config import load_settings
from agent.exercises.exercise import Exercise
from agent.exercises.suite import EXERCISES
from agent.models.choice import model_for
from agent.models.model import Model, ModelReply, ModelRequest
from agent.protocol import ToolCallFinished, ToolCallRequested
from agent.records import Session
from bench.exercises.house import house
from bench.exercises.trial import attempt

COUNT = 30
_BY_THE_CLOCK = {"note-delete-far-below"}
"""Its rows say in which minute they were written, and that may be one for all of them or two."""
CHOSEN = tuple(one for one in EXERCISES if one.name not in _BY_THE_CLOCK)[:COUNT]
_BOUND_S = 240.0
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_VARIES = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun|yesterday)\b"
    rf"|\b{_MONTH} \d+\b|\b\d+ {_MONTH}\b|[0-9a-f]{{8,}}|\d+:\d+|\d+",
    re.IGNORECASE,
)
"""A message shows the hour, the day or the date at which it came, whichever is short."""


class _RecordingModel:
    """A model that notes what it is asked: implements `agent.models.model.Model`."""

    def __init__(self, model: Model, prompts: list[str]) -> None:
        self._model = model
        self._prompts = prompts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def complete(self, request: ModelRequest, *more: Any, **named: Any) -> ModelReply:
        said = [(m.role.value, m.kind.value, m.text) for m in request.messages[-2:]]
        tools = sorted(tool.name for tool in request.tools)
        self._prompts.append(digest(repr((said, tools))))
        return await self._model.complete(request, *more, **named)


def digest(text: str) -> str:
    """Return what a text comes to without numbers, ids and days of the week."""
    return hashlib.sha256(_VARIES.sub("#", text).encode()).hexdigest()[:12]


async def exercises(folder: Path, chosen: tuple[Exercise, ...] = CHOSEN) -> str:
    """Return a line for each thing of note: how it ended, the calls, the hash of each prompt."""
    return "\n".join([line async for line in _played(folder, chosen)])


async def _played(folder: Path, chosen: tuple[Exercise, ...]) -> AsyncIterator[str]:
    # Content glides on by the finger's speed. That is taken from when its events come over scrcpy,
    # and so by how busy the machine is; of `input swipe` the phone knows how fast it should be.
    settings = load_settings(overrides={"data_dir": str(folder / "data"), "scrcpy.control": False})
    prompts: list[str] = []

    def models(session: Session) -> Model:
        heard: Any = _RecordingModel(model_for(session, settings), prompts)
        return heard

    async with house(folder, settings, phones=1, models=models) as stands:
        for exercise in chosen:
            prompts.clear()
            outcome = await attempt(
                stands,
                stands.serials[0],
                exercise,
                model="pilot",
                seed=1,
                repeat=1,
                without=(),
                bound_s=_BOUND_S,
            )
            yield f"== {exercise.name}: {outcome.why or 'done'}"
            for event in await stands.core.history(outcome.session_id):
                yield line_of(event.msg)
            for number, prompt in enumerate(prompts, 1):
                yield f"prompt {number} {prompt}"


def line_of(msg: Any) -> str:
    """Return a line for an event; of a call with a hash of what it says."""
    kind = type(msg).__name__
    match msg:
        case ToolCallRequested() | ToolCallFinished():
            return f"{kind} {digest(msgspec.json.encode(msg).decode())}"
        case _:
            return kind

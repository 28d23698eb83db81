"""Copy, paste, and read what was copied."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import msgspec

from agent.devices.protocols import Device
from agent.errors import DeviceError
from agent.records import Observation, Session
from agent.safety.effects.acts import Act, ActKind
from agent.safety.redacting.redaction import hidden_as_written, redact
from agent.text import on_one_line
from agent.tools.arguments import BadArguments
from agent.tools.planned_action import Anchor, PhoneTool, ResolvedAction, name_of, said_text

MAX_CLIP_CHARS = 2000
_MAX_READ_CHARS = 1000
_SAID_CHARS = 40
HOLDS = "It holds"
"""Before what the clipboard was read to hold, in quotes."""


class Clipboard(PhoneTool, frozen=True, kw_only=True):
    """Copy or paste a text, or read what was copied."""

    tool_name = "clipboard"
    anchor: ClassVar[Anchor] = Anchor.FOCUS
    verbs: ClassVar[Mapping[str, str]] = {"Copied": "Copy", "Pasted": "Paste", "Read": "Read"}

    do: Literal["copy", "paste", "read"]
    text: Annotated[str, msgspec.Meta(description="What to copy, or to paste in.")] = ""

    def resolve(self, screen: Observation) -> ResolvedAction:
        if self.do == "read":
            return ResolvedAction(action=self, said="Read the clipboard")
        if not self.text:
            raise BadArguments("`text` is empty: say what to copy or paste")
        if len(self.text) > MAX_CLIP_CHARS:
            raise BadArguments(f"`text` has more than {MAX_CLIP_CHARS} characters")
        shown = said_text(self.text, _SAID_CHARS)
        if self.do == "copy":
            return ResolvedAction(action=self, said=f"Copied {shown}")
        field = next((e for e in screen.elements if e.editable and e.focused), None)
        if field is None and screen.elements:
            raise BadArguments("no field is focused: tap the field first, or use type_text")
        where = "" if field is None else f" into {name_of(field)}"
        return ResolvedAction(action=self, said=f"Pasted {shown}{where}", element=field)

    async def perform(self, resolved: ResolvedAction, device: Device, session: Session) -> str:
        if self.do == "read":
            return _held(await device.clipboard()) or "It is empty."
        await device.set_clipboard(self.text, paste=self.do == "paste")
        if self.do == "paste":
            return ""
        try:
            held = await device.clipboard()
        except DeviceError:
            # It was handed over; what it holds is said where the phone tells it.
            return ""
        # What else it may hold was not asked for.
        return _held(held) if held == self.text else ""

    def acts(self, resolved: ResolvedAction) -> tuple[Act, ...]:
        if self.do == "paste":
            return (Act(kind=ActKind.TYPE, element=resolved.element, text=self.text),)
        return (Act(kind=ActKind.COPY, text=self.text),)

    @property
    def typed(self) -> str | None:
        return self.text if self.do == "paste" else None

    def verify(self, resolved: ResolvedAction, before: Observation, after: Observation) -> str:
        # A clipboard that is filled or read shows nothing.
        return f"OK: {resolved.said}."


def _held(text: str) -> str:
    found = hidden_as_written(text, redact, _MAX_READ_CHARS)
    return f'{HOLDS} "{on_one_line(found, _MAX_READ_CHARS)}".' if found else ""

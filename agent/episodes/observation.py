"""What is seen of a phone after a step or a reset, and what that is worth."""

import msgspec

from agent.records import UiNode


class EpisodeObservation(msgspec.Struct, frozen=True, kw_only=True):
    """What a step, or a reset, shows."""

    png: bytes = b""
    """The screen as the phone has it; empty where only trees are looked at."""
    rgb: bytes = b""
    """The same at the size that the episode was told, 3 bytes a pixel, row by row."""
    width_px: int = 0
    height_px: int = 0
    orientation: int = 0
    """0, 90, 180 or 270, as the tree says."""
    at_ms: int = 0
    nodes: tuple[UiNode, ...] = ()
    xml: bytes = b""
    """The tree as the phone sent it."""
    package: str = ""
    activity: str = ""
    keyboard_shown: bool | None = False
    """None where the phone did not say so."""
    error: str = ""
    """Why the action, or a part of the looking, failed."""
    reward: float = 0.0
    extras: dict[str, list[object]] = {}
    """What a task reads out of the phone's log, by name; see `agent.exercises.log_task`."""
    terminated: bool = False
    truncated: bool = False

    @property
    def done(self) -> bool:
        return self.terminated or self.truncated

"""What a display shows to those who take pictures of it: its scene, or the frozen one.

The one place where the frozen screen acts, so that captures, recordings and video agree. The phone
itself goes on: touches, the UI dump and the true state are not frozen. Invariant: while the fault
is there, every picture of a display is the same.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from virtual_phone.server.faults import FaultKind

if TYPE_CHECKING:
    from virtual_phone.display.scene import Scene
    from virtual_phone.userland.userland import Userland


def shown_scene(userland: "Userland", display: int) -> "Scene":
    """Return what a display shows; raise PhoneError when there is no such display."""
    if FaultKind.FROZEN_SCREEN not in userland.faults:
        return userland.phone.compositor.scene_to_draw(display)
    kept = userland.frozen_scenes.get(display)
    if kept is None:
        kept = replace(userland.phone.compositor.scene(display), still=True)
        userland.frozen_scenes[display] = kept
    return kept

"""Which settings turn a screen.

Android's own: `accelerometer_rotation` lets the screen follow how the phone is held, and where it
is 0, `user_rotation` counts quarter turns from the natural orientation
(`android.provider.Settings.System`).
"""

from agent.errors import UsageError

READ_AUTO_ROTATE = "settings get system accelerometer_rotation"
"""The shell line that prints 1 where the screen follows how the phone is held, 0 where not."""
ROTATIONS = {"portrait": 0, "landscape": 1, "upside-down": 2, "seascape": 3}


def rotation_commands(how: str) -> tuple[str, ...]:
    """Return the shell lines that turn the screen. Raises UsageError for an unknown word."""
    if how == "auto":
        return ("settings put system accelerometer_rotation 1",)
    if how not in ROTATIONS:
        raise UsageError(
            f"A screen cannot be turned to {how!r}.", f"Give auto, {', '.join(ROTATIONS)}."
        )
    return (
        "settings put system accelerometer_rotation 0",
        f"settings put system user_rotation {ROTATIONS[how]}",
    )


def follows(printed: str) -> bool | None:
    """Read what `READ_AUTO_ROTATE` printed; None: the phone does not say."""
    return {"0": False, "1": True}.get(printed.strip())

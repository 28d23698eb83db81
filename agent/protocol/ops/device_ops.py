"""Define the ops on devices: labels, the wheel, and moving sessions between them."""

from typing import ClassVar, TypeAlias

import msgspec

from agent.protocol.base import OpBase
from agent.records import Allows, Point, Right


class DeviceDismiss(OpBase, frozen=True, kw_only=True, tag="device_dismiss"):
    """Dismiss a device's problem from every queue until its state changes, or undo that."""

    needs: ClassVar[tuple[Right, ...]] = (Right.ANSWER,)
    allows: ClassVar[Allows] = Allows.NOTHING

    serial: str
    dismissed: bool = True


class DeviceTag(OpBase, frozen=True, kw_only=True, tag="device_tag"):
    """Name or tag a device; None leaves a field unchanged."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS

    serial: str
    name: str | None = None
    tags: tuple[str, ...] | None = None
    notes: str | None = None


class SessionMove(OpBase, frozen=True, kw_only=True, tag="session_move"):
    """Move a session to another device: its turn ends and continues there with a fresh look."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.NOTHING
    returns: ClassVar[str] = "the id of the session"

    session_id: str
    serial: str


class HostForget(OpBase, frozen=True, kw_only=True, tag="host_forget"):
    """Remove a host that has left for good from the fleet; refused while it is there, or while
    sessions that have not ended, jobs, watchers or commitments belong to it.
    """

    needs: ClassVar[tuple[Right, ...]] = (Right.ADMINISTER,)
    allows: ClassVar[Allows] = Allows.WORDS

    host: str
    jobs_to: str = ""
    """The host that gets its jobs, watchers and commitments; empty: none may be left."""


class WheelTake(OpBase, frozen=True, kw_only=True, tag="wheel_take"):
    """Take the wheel of a device, given by serial or by its session, which then waits."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the id of the session that waits, if one does"
    waits_for_phone: ClassVar[bool] = True

    serial: str = ""
    session_id: str = ""


class WheelHandBack(OpBase, frozen=True, kw_only=True, tag="wheel_hand_back"):
    """Hand the wheel back; the session resumes with a fresh look and learns what was done."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the id of the session that goes on, if one does"
    waits_for_phone: ClassVar[bool] = True

    serial: str = ""
    session_id: str = ""
    note: str = ""


class _Gesture(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True
):
    """Base of what an operator does at the wheel."""


class WheelTap(_Gesture, frozen=True, kw_only=True, tag="tap"):
    """Touch a place briefly."""

    at: Point


class WheelLongPress(_Gesture, frozen=True, kw_only=True, tag="long_press"):
    """Touch a place and stay."""

    at: Point
    duration_ms: int = 1000


class WheelSwipe(_Gesture, frozen=True, kw_only=True, tag="swipe"):
    """Move a finger in a straight line."""

    start: Point
    end: Point
    duration_ms: int = 300


class WheelText(_Gesture, frozen=True, kw_only=True, tag="text"):
    """Type into the focused field. The text itself is not stored: it may be a secret."""

    text: str


class WheelPaste(_Gesture, frozen=True, kw_only=True, tag="paste"):
    """Paste into the focused field, by the clipboard. The text itself is not stored."""

    text: str


class WheelButton(_Gesture, frozen=True, kw_only=True, tag="button"):
    """Press one of the buttons that a model may press, by its name: BACK, HOME, ENTER …"""

    button: str


WheelGesture: TypeAlias = (
    WheelTap | WheelLongPress | WheelSwipe | WheelText | WheelPaste | WheelButton
)


class WheelAct(OpBase, frozen=True, kw_only=True, tag="wheel_act"):
    """Perform a gesture at the wheel, after the step that was in flight."""

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the id of the session that waits, if one does"
    waits_for_phone: ClassVar[bool] = True

    gesture: WheelGesture
    serial: str = ""
    session_id: str = ""


AnyDeviceOp: TypeAlias = (
    DeviceDismiss | DeviceTag | SessionMove | HostForget | WheelTake | WheelHandBack | WheelAct
)

"""Touch a point, and drag from one place to another."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

import msgspec

from agent.devices.gestures import DoubleTap, Drag, Swipe
from agent.devices.protocols import Device
from agent.records import Element, Observation, Point, Session
from agent.safety.effects.acts import Act, ActKind
from agent.tools.arguments import BadArguments
from agent.tools.planned_action import Anchor, PhoneTool, ResolvedAction, clip, element_at, name_of

SCALE = 1000  # Points of a picture are counted from 0 to this, from its left top corner.
LONG_PRESS_MS = 1000
SLIDE_MS = 700


class TapPoint(PhoneTool, frozen=True, kw_only=True):
    """Touch a point of the picture where no element is numbered."""

    tool_name = "tap_point"
    needs_picture = True
    anchor: ClassVar[Anchor] = Anchor.POINTS
    verbs: ClassVar[Mapping[str, str]] = {
        "Tapped": "Tap",
        "Double-tapped": "Double-tap",
        "Long-pressed": "Long-press",
    }

    x: Annotated[int, msgspec.Meta(ge=0, le=SCALE, description="0 left, 1000 right.")]
    y: Annotated[int, msgspec.Meta(ge=0, le=SCALE, description="0 top, 1000 bottom.")]
    press: Literal["tap", "double", "long"] = "tap"

    def resolve(self, screen: Observation) -> ResolvedAction:
        point = _point((self.x, self.y))
        here = smallest_at(point, screen.elements)
        how = {"tap": "Tapped", "double": "Double-tapped", "long": "Long-pressed"}[self.press]
        over = f", on {name_of(here)}" if here is not None else ""
        return ResolvedAction(
            action=self, said=f"{how} the point {self.x}, {self.y}{over}", point=point
        )

    async def perform(self, resolved: ResolvedAction, device: Device, session: Session) -> str:
        point = _placed(resolved.point)
        match self.press:
            case "tap":
                await device.tap(point)
            case "double":
                await device.perform(DoubleTap(point))
            case "long":
                await device.long_press(point, duration_ms=LONG_PRESS_MS)
        return ""

    def acts(self, resolved: ResolvedAction) -> tuple[Act, ...]:
        kind = ActKind.LONG_PRESS if self.press == "long" else ActKind.PRESS
        return (Act(kind=kind, point=resolved.point),)


OF_ITS_WIDTH = "of its width"
"""What a result says behind the share that a slider was dragged to."""


class DragTo(PhoneTool, frozen=True, kw_only=True):
    """Drag: a slider, an icon, a list item."""

    tool_name = "drag"
    anchor: ClassVar[Anchor] = Anchor.POINTS
    verbs: ClassVar[Mapping[str, str]] = {"Dragged": "Drag"}

    element: Annotated[int, msgspec.Meta(ge=0, description="What to drag.")] = 0
    to_element: Annotated[int, msgspec.Meta(ge=0, description="Where to.")] = 0
    start: Annotated[str, msgspec.Meta(description='Or a point: "x,y", 0-1000.')] = ""
    end: Annotated[str, msgspec.Meta(description='Slider: "40%".')] = ""
    hold: Annotated[bool, msgspec.Meta(description="Long-press first: icons.")] = False

    def resolve(self, screen: Observation) -> ResolvedAction:
        if bool(self.element) == bool(self.start):
            raise BadArguments("name what to drag: `element`, or `start` as x and y of the screen")
        if bool(self.to_element) == bool(self.end):
            raise BadArguments(
                "name where to: `to_element`, or `end` as x and y of the screen; of a slider "
                'also as "40%"'
            )
        element = element_at(screen, self.element) if self.element else None
        goal = element_at(screen, self.to_element) if self.to_element else None
        start = _read_point(self.start) if element is None else clip(element.bounds.center)
        share = None if element is None else _share(self.end, is_slider=element.kind == "slider")
        if goal is not None:
            end, where = clip(goal.bounds.center), name_of(goal)
        elif element is not None and share is not None:
            # From its other half: a drag has to move, also to the middle.
            start = _at_share(element, 0.25 if share >= 0.5 else 0.75)
            end, where = _at_share(element, share), f"{share:.0%} {OF_ITS_WIDTH}"
        else:
            end = _read_point(self.end)
            where = _written(end)
        if start == end:
            raise BadArguments("the drag ends where it starts")
        what = name_of(element) if element is not None else _written(start)
        said = f"Dragged {what} to {where}"
        return ResolvedAction(action=self, said=said, element=element, point=start, end=end)

    async def perform(self, resolved: ResolvedAction, device: Device, session: Session) -> str:
        start, end = _placed(resolved.point), _placed(resolved.end)
        if self.hold:
            await device.perform(Drag(start, end))
        else:
            await device.perform(Swipe(start, end, SLIDE_MS))
        return ""

    def acts(self, resolved: ResolvedAction) -> tuple[Act, ...]:
        # What is dragged, and what it is dropped on: a bin deletes.
        return (
            Act(kind=ActKind.DRAG, point=resolved.point, end=resolved.end),
            Act(kind=ActKind.DRAG, point=resolved.end, end=resolved.end),
        )


def smallest_at(point: Point, screen: Sequence[Element]) -> Element | None:
    """Return the smallest element that lies at a point; None where there is none."""
    here = [
        e
        for e in screen
        if e.bounds.left <= point.x <= e.bounds.right and e.bounds.top <= point.y <= e.bounds.bottom
    ]
    return min(
        here,
        key=lambda e: (e.bounds.right - e.bounds.left) * (e.bounds.bottom - e.bounds.top),
        default=None,
    )


def _point(at: tuple[int, int]) -> Point:
    return Point(x=at[0] / SCALE, y=at[1] / SCALE)


def _read_point(text: str) -> Point:
    """Read "x,y". Raises BadArguments for what is no point of the screen."""
    numbers = re.findall(r"\d{1,4}", text[:40])
    if len(numbers) != 2 or any(int(number) > SCALE for number in numbers):
        raise BadArguments(f'a point is written "x,y", each from 0 to {SCALE}')
    return _point((int(numbers[0]), int(numbers[1])))


def _at_share(element: Element, share: float) -> Point:
    box = element.bounds
    return clip(Point(x=box.left + share * (box.right - box.left), y=box.center_y))


def _share(text: str, *, is_slider: bool) -> float | None:
    """Read "40%" as 0.4, of a slider also "40"; None for what is no number from 0 to 100."""
    found = re.fullmatch(rf"\s*(\d{{1,3}})\s*%{'?' if is_slider else ''}\s*", text[:40])
    return None if found is None or int(found[1]) > 100 else int(found[1]) / 100


def _written(point: Point) -> str:
    return f"{round(point.x * SCALE)}, {round(point.y * SCALE)}"


def _placed(point: Point | None) -> Point:
    if point is None:
        raise BadArguments("the gesture has no place on the screen")
    return point

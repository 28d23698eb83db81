"""A phone drawn by a test: screens of UI nodes, and what a tap does. Implements Device."""

import hashlib
from collections.abc import Callable, Sequence
from xml.sax.saxutils import quoteattr

from agent import records
from agent.devices.gestures import Gesture
from agent.devices.no_displays import NoDisplays
from agent.devices.protocols import Button, Capture, Displays, Typed, UiTree
from agent.errors import DeviceError

APP = "org.example.app"


def node(
    text: str = "", at: tuple[float, float, float, float] = (0.1, 0.4, 0.9, 0.45), **more: object
) -> records.UiNode:
    """Make a node; bounds are left, top, right, bottom."""
    left, top, right, bottom = at
    bounds = records.Bounds(left=left, top=top, right=right, bottom=bottom)
    fields: dict[str, object] = {"class_name": "android.widget.TextView", "package": APP, **more}
    return records.UiNode(text=text, bounds=bounds, **fields)  # type: ignore[arg-type]


def button(text: str, y: float, **more: object) -> records.UiNode:
    fields: dict[str, object] = {"class_name": "android.widget.Button", "clickable": True, **more}
    return node(text, (0.1, y, 0.9, y + 0.05), **fields)


def field(hint: str, y: float, text: str = "", **more: object) -> records.UiNode:
    fields: dict[str, object] = {
        "class_name": "android.widget.EditText",
        "clickable": True,
        "hint": hint,
        **more,
    }
    return node(text, (0.1, y, 0.9, y + 0.05), **fields)


class PaperPhone:
    """A phone that shows what `screen` gives and calls `on` for what is done to it."""

    def __init__(
        self,
        screen: Callable[[], Sequence[records.UiNode]],
        on: Callable[[str], None] = lambda what: None,
        *,
        apps: Sequence[str] = (APP, "com.android.settings"),
    ) -> None:
        self.screen = screen
        self.on = on
        self.installed = apps
        self.front = records.Foreground(package=APP, activity=".Main")
        self.done: list[str] = []
        self.copied = ""
        self.failures: dict[str, list[Exception]] = {}
        """Errors to raise, by the name of the call, one each time."""

    @property
    def serial(self) -> str:
        return "paper"

    @property
    def displays(self) -> Displays:
        return NoDisplays("paper", "it is made of paper.")

    async def info(self) -> records.DeviceInfo:
        return records.DeviceInfo(serial="paper", state=records.DeviceState.ONLINE)

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        self._may_fail("capture")
        data = b"picture of " + str(len(self.done)).encode()
        digest = hashlib.sha256(data).hexdigest()
        frame = records.Frame(digest=digest, width_px=1080, height_px=2400, captured_ms=1)
        return Capture(frame=frame, data=data)

    async def tree(self, *, timeout_s: float = 15.0) -> UiTree:
        self._may_fail("tree")
        nodes = tuple(self.screen())
        lines = "".join(
            f"<node text={quoteattr(n.text)} password={quoteattr(str(n.password).lower())} />"
            for n in nodes
        )
        return UiTree(nodes=nodes, xml=f"<h>{lines}</h>".encode(), started_ms=1, ended_ms=2)

    async def foreground(self, *, timeout_s: float = 5.0) -> records.Foreground:
        self._may_fail("foreground")
        return self.front

    async def apps(self, *, timeout_s: float = 10.0) -> tuple[records.AppInfo, ...]:
        self._may_fail("apps")
        return tuple(records.AppInfo(package=package) for package in self.installed)

    async def tap(self, at: records.Point, *, timeout_s: float = 5.0) -> None:
        self._do("tap", f"tap {self._label(at)}")

    async def long_press(self, at: records.Point, *, duration_ms: int = 1000) -> None:
        self._do("long_press", f"long_press {self._label(at)}")

    async def swipe(
        self, start: records.Point, end: records.Point, *, duration_ms: int = 300
    ) -> None:
        self._do("swipe", "swipe up" if end.y < start.y else "swipe down")

    async def perform(self, gesture: Gesture, *, timeout_s: float = 5.0) -> None:
        self._do("perform", type(gesture).__name__.lower())

    async def scroll(
        self, at: records.Point, *, vertical: float, horizontal: float = 0.0, timeout_s: float = 5.0
    ) -> None:
        self._do("scroll", f"scroll {vertical:g} {horizontal:g}")

    async def key(self, name: str, *, timeout_s: float = 5.0) -> None:
        self._do("key", f"key {name}")

    async def clipboard(self, *, timeout_s: float = 10.0) -> str:
        return self.copied

    async def set_clipboard(
        self, text: str, *, paste: bool = False, timeout_s: float = 10.0
    ) -> None:
        self._do("set_clipboard", f"{'paste' if paste else 'copy'} {text}")
        self.copied = text

    async def type_text(self, text: str, *, timeout_s: float = 15.0) -> Typed:
        self._do("type_text", f"type {text}")
        return Typed()

    async def clear_field(self, *, timeout_s: float = 15.0) -> None:
        self._do("clear_field", "clear")

    async def press(self, button: Button, *, timeout_s: float = 5.0) -> None:
        self._do("press", f"press {button.value}")

    async def launch(self, package: str, *, timeout_s: float = 10.0) -> None:
        if package not in self.installed:
            raise DeviceError(f"{package} has nothing to start.")
        self._do("launch", f"launch {package}")
        self.front = records.Foreground(package=package, activity=".Main")

    def _do(self, call: str, what: str) -> None:
        self._may_fail(call)
        self.done.append(what)
        self.on(what)

    def _may_fail(self, call: str) -> None:
        if self.failures.get(call):
            raise self.failures[call].pop(0)

    def _label(self, at: records.Point) -> str:
        for candidate in reversed(list(self.screen())):
            b = candidate.bounds
            if candidate.clickable and b.left <= at.x <= b.right and b.top <= at.y <= b.bottom:
                return candidate.text or candidate.description or candidate.hint
        return "nothing"

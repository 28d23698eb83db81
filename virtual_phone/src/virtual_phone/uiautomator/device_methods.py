"""The methods on the phone as a whole: points, keys, screen, clipboard, toasts.

Not those on objects (`object_methods`). Invariant: each does what a finger, a key or the owner's
settings could do, by the phone's own means.
"""

import asyncio
import base64
import dataclasses
import io

import msgspec

from virtual_phone.display import capture
from virtual_phone.server.faults import FaultKind
from virtual_phone.ui.dump import dump
from virtual_phone.ui.views import View
from virtual_phone.uiautomator.nodes import windows
from virtual_phone.uiautomator.rpc import INVALID_PARAMETERS, MethodTable, RpcError
from virtual_phone.uiautomator.service import WAIT_LIMIT_S, Service, point_of, steps_of

KEYS = {
    "home": 3,
    "back": 4,
    "left": 21,
    "right": 22,
    "up": 19,
    "down": 20,
    "center": 23,
    "menu": 82,
    "search": 84,
    "enter": 66,
    "delete": 67,
    "del": 67,
    "recent": 187,
    "volume_up": 24,
    "volume_down": 25,
    "volume_mute": 164,
    "camera": 27,
    "power": 26,
}
KEY_A, KEY_DEL, KEY_PASTE, KEY_POWER, META_CTRL = 29, 67, 279, 26, 0x1000
TOUCHES = {0: "down", 1: "up", 2: "move", 3: "cancel"}
ROTATIONS = {"natural": 0, "n": 0, "left": 1, "l": 1, "upsidedown": 2, "u": 2, "right": 3, "r": 3}
DEPTH = 50
POINTS_LIMIT = 2000
EMPTY_DUMP = (
    "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n"
    '<hierarchy rotation="{rotation}" />'
)


class Configurator(msgspec.Struct, rename="camel"):
    """The timings a client may set, in milliseconds, as the service starts with them."""

    action_acknowledgment_timeout: int = 500
    key_injection_delay: int = 0
    scroll_acknowledgment_timeout: int = 200
    ui_automation_flags: int = 0
    wait_for_idle_timeout: int = 0
    wait_for_selector_timeout: int = 0


class DeviceMethods:
    """What can be asked of the phone as a whole."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._phone = service.phone
        self._configurator = Configurator()

    def register(self, table: MethodTable) -> None:
        """Put the methods into a table under the names that the library calls."""
        table.add("ping", self._ping)
        table.add("deviceInfo", self._device_info)
        table.add("click", self._click, self._press)
        table.add("swipe", self._swipe)
        table.add("swipePoints", self._swipe_points)
        table.add("drag", self._drag)
        table.add("injectInputEvent", self._inject)
        table.add("pressKey", self._press_key)
        table.add("pressKeyCode", self._press_code, self._press_code_with_meta)
        table.add("dumpWindowHierarchy", self._dump, self._dump_deep, self._dump_active)
        table.add("takeScreenshot", self._screenshot)
        table.add("wakeUp", self._wake)
        table.add("sleep", self._sleep)
        table.add("isScreenOn", self._is_screen_on)
        table.add("setOrientation", self._set_orientation)
        table.add("freezeRotation", self._freeze_rotation)
        table.add("openNotification", self._open_notification)
        table.add("openQuickSettings", self._open_quick_settings)
        table.add("getClipboard", self._get_clipboard)
        table.add("setClipboard", self._set_clipboard)
        table.add("pasteClipboard", self._paste)
        table.add("clearInputText", self._clear_input)
        table.add("getLastToast", self._last_toast)
        table.add("clearLastToast", self._clear_toast)
        table.add("makeToast", self._make_toast)
        table.add("getLastTraversedText", self._last_traversed)
        table.add("clearLastTraversedText", self._nothing)
        table.add("waitForIdle", self._wait_idle)
        table.add("waitForWindowUpdate", self._wait_update)
        table.add("launchApp", self._launch)
        table.add("getConfigurator", self._get_configurator)
        table.add("setConfigurator", self._set_configurator)

    # -- facts

    async def _ping(self) -> str:
        return "pong"

    async def _device_info(self) -> dict[str, object]:
        width, height, density = self._phone.displays.size(0)
        window = self._phone.windows.focused
        package = window.package if window is not None else ""
        return {
            "currentPackageName": package or self._phone.windows.focused_app.partition("/")[0],
            "displayHeight": height,
            "displayRotation": self._phone.rotation.quarters,
            "displaySizeDpX": round(width * 160 / density),
            "displaySizeDpY": round(height * 160 / density),
            "displayWidth": width,
            "productName": self._phone.properties.get("ro.product.name", ""),
            "screenOn": self._phone.power.screen_on,
            "sdkInt": int(self._phone.properties.get("ro.build.version.sdk", "0") or 0),
            "naturalOrientation": self._phone.rotation.quarters in (0, 2),
        }

    async def _dump(self, compressed: bool) -> str:
        return await self._dump_active(compressed, DEPTH, False)

    async def _dump_deep(self, compressed: bool, depth: int) -> str:
        return await self._dump_active(compressed, depth, False)

    async def _dump_active(self, compressed: bool, depth: int, active_only: bool) -> str:
        faults = self._service.userland.faults
        await faults.hold(FaultKind.HUNG_DUMP)
        rotation = self._phone.rotation.quarters
        surfaces = windows(self._phone.compositor.scene())
        if FaultKind.NULL_ROOT in faults or not surfaces:
            return EMPTY_DUMP.format(rotation=rotation)
        parts: list[str] = []
        head = ""
        for surface in surfaces[:1] if active_only else surfaces:
            root = _to_depth(surface.root, depth)
            xml = dump(root, surface.package, rotation, compressed=compressed)
            head, _, rest = xml.partition("<hierarchy")
            parts.append(rest.partition(">")[2].removesuffix("</hierarchy>"))
        body = "".join(parts)
        if not body:
            return EMPTY_DUMP.format(rotation=rotation)
        # This service's dump also says that a node is visible; quotes in texts are escaped.
        body = body.replace('" bounds="[', '" visible-to-user="true" bounds="[')
        return f'{head}\r\n<hierarchy rotation="{rotation}">{body}</hierarchy>'

    async def _screenshot(self, scale: float, quality: int) -> str:
        width, height, pixels = await capture.raw_pixels(self._service.userland)
        if not 0 < scale <= 1:
            raise RpcError(INVALID_PARAMETERS, "java.lang.IllegalArgumentException: bad scale")
        data = await asyncio.to_thread(_jpeg, (width, height), pixels, scale, quality)
        return base64.b64encode(data).decode("ascii")

    async def _is_screen_on(self) -> bool:
        return self._phone.power.screen_on

    # -- touch and keys

    async def _click(self, x: float, y: float) -> bool:
        await self._service.gestures.tap(*point_of(x, y))
        return True

    async def _press(self, x: float, y: float, duration_ms: float) -> bool:
        held = min(max(duration_ms, 0), WAIT_LIMIT_S * 1000)
        await self._service.gestures.long_press(*point_of(x, y), round(held))
        return True

    async def _swipe(self, x1: float, y1: float, x2: float, y2: float, steps: float) -> bool:
        await self._service.swipe(point_of(x1, y1), point_of(x2, y2), steps_of(steps))
        return True

    async def _drag(self, x1: float, y1: float, x2: float, y2: float, steps: float) -> bool:
        await self._service.drag(point_of(x1, y1), point_of(x2, y2), steps_of(steps))
        return True

    async def _swipe_points(self, numbers: list[float], steps: float) -> bool:
        if len(numbers) < 4 or len(numbers) % 2 or len(numbers) > 2 * POINTS_LIMIT:
            raise RpcError(INVALID_PARAMETERS, "java.lang.IllegalArgumentException: bad points")
        points = [point_of(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        await self._service.trace([[(float(x), float(y)) for x, y in points]], steps_of(steps))
        return True

    async def _inject(self, action: int, x: float, y: float, meta: int) -> bool:
        del meta
        if action not in TOUCHES:
            return False
        self._service.gestures.finger(TOUCHES[action], 0, *point_of(x, y))
        return True

    async def _press_key(self, name: str) -> bool:
        code = KEYS.get(name.lower())
        if code is None:
            return False
        self._service.keys.press(code)
        return True

    async def _press_code(self, code: int) -> bool:
        self._service.keys.press(code)
        return True

    async def _press_code_with_meta(self, code: int, meta: int) -> bool:
        self._service.keys.press(code, meta=meta)
        return True

    # -- screen

    async def _wake(self) -> None:
        if not self._phone.power.screen_on:
            self._service.keys.press(KEY_POWER)

    async def _sleep(self) -> None:
        if self._phone.power.screen_on:
            self._service.keys.press(KEY_POWER)

    async def _set_orientation(self, name: str) -> None:
        rotation = ROTATIONS.get(name.lower())
        if rotation is not None:
            self._phone.rotation.lock(rotation)

    async def _freeze_rotation(self, frozen: bool) -> None:
        if frozen:
            self._phone.rotation.lock(self._phone.rotation.quarters)
        else:
            self._phone.settings.put("system", "accelerometer_rotation", "1")

    async def _open_notification(self) -> bool:
        return self._phone.navigation.go("shade")

    async def _open_quick_settings(self) -> bool:
        return self._phone.navigation.go("quick_settings")

    async def _wait_idle(self, timeout_ms: float) -> None:
        await self._phone.animations.wait_idle(min(max(timeout_ms / 1000, 0), WAIT_LIMIT_S))

    async def _wait_update(self, package: str | None, timeout_ms: float) -> bool:
        version = self._phone.compositor.version
        try:
            async with asyncio.timeout(min(max(timeout_ms / 1000, 0), WAIT_LIMIT_S)):
                while True:
                    version = await self._phone.compositor.wait_newer(version)
                    window = self._phone.windows.focused
                    if not package or (window is not None and window.package == package):
                        return True
        except TimeoutError:
            return False

    async def _launch(self, package: str) -> bool:
        return self._phone.activities.launch_if_there(package)

    # -- clipboard and text

    async def _get_clipboard(self) -> str | None:
        return self._phone.clipboard.text or None

    async def _set_clipboard(self, label: str | None, text: str | None) -> None:
        del label
        self._phone.clipboard.set(text or "")

    async def _paste(self) -> None:
        self._service.keys.press(KEY_PASTE)

    async def _clear_input(self) -> None:
        self._service.keys.press(KEY_A, meta=META_CTRL)
        self._service.keys.press(KEY_DEL)

    # -- toasts and the rest

    async def _last_toast(self) -> str | None:
        shown = self._phone.toasts.count > self._service.toasts_seen
        return self._phone.toasts.last if shown else None

    async def _clear_toast(self) -> None:
        self._service.toasts_seen = self._phone.toasts.count

    async def _make_toast(self, text: str, duration_ms: float) -> bool:
        del duration_ms
        self._phone.toasts.show(text)
        return True

    async def _last_traversed(self) -> None:
        return None

    async def _nothing(self) -> None:
        return None

    async def _get_configurator(self) -> dict[str, object]:
        found: dict[str, object] = msgspec.to_builtins(self._configurator)
        return found

    async def _set_configurator(self, wanted: Configurator) -> dict[str, object]:
        self._configurator = wanted
        self._service.idle_timeout_ms = min(max(wanted.wait_for_idle_timeout, 0), 60_000)
        return await self._get_configurator()


def _to_depth(view: View, depth: int) -> View:
    """Return a tree cut below a depth; the same one where nothing is that deep."""
    if _depth(view) <= depth:
        return view
    return _cut(view, max(depth, 1))


def _depth(view: View) -> int:
    return 1 + max((_depth(child) for child in view.children), default=0)


def _cut(view: View, depth: int) -> View:
    below = [_cut(child, depth - 1) for child in view.children] if depth > 1 else []
    return dataclasses.replace(view, children=below)


def _jpeg(size: tuple[int, int], pixels: bytes, scale: float, quality: int) -> bytes:
    from PIL import Image

    picture = Image.frombytes("RGBA", size, pixels).convert("RGB")
    if scale != 1:
        width, height = (max(1, round(side * scale)) for side in size)
        picture = picture.resize((width, height))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=min(max(quality, 1), 100))
    return out.getvalue()

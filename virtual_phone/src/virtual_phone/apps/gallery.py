"""Photos and Camera: the pictures of the shared storage, and a camera that takes more of them.

What the camera takes are files, what is deleted here is gone from the storage. The camera asks for
its permission first. Invariant: the gallery shows exactly the pictures there are.
"""

import math
import random
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec

from virtual_phone.app import App, AppIcon, NoState, Page, Seed, no_state
from virtual_phone.errors import PhoneError
from virtual_phone.state.first_files import landscape, photo_path
from virtual_phone.state.storage import SharedStorage, StoredFile
from virtual_phone.ui import vocabulary as ui
from virtual_phone.ui.canvas import Canvas
from virtual_phone.ui.patterns import empty, screen, title_bar
from virtual_phone.ui.views import MATCH, Align, Rect, TextStyle, View
from virtual_phone.ui.vocabulary import grid, text

if TYPE_CHECKING:
    from PIL import Image


class Photos(msgspec.Struct):
    """The gallery's state: the paths of the pictures that somebody liked."""

    favorites: list[str] = []


def seed(_seed: Seed) -> Photos:
    """Return a gallery in which nothing was liked yet."""
    return Photos()


gallery = App(
    package="com.android.gallery3d",
    label="Photos",
    icon=AppIcon("gallery", "#F2739E", "#C2477F"),
    state=Photos,
    seed=seed,
)
camera = App(
    package="com.android.camera2",
    label="Camera",
    icon=AppIcon("camera", "#5F6675", "#3C4250"),
    state=NoState,
    seed=no_state,
    permissions=("android.permission.CAMERA",),
)
CAMERA = "android.permission.CAMERA"
MAX_PIXELS = 40_000_000
SHOWN_PHOTOS = 300
SKIES = (
    ("#8EC5F2", "#E8F3FB"),
    ("#F3A56B", "#F8DDB0"),
    ("#4B5C9E", "#C58BB4"),
    ("#A8D5C2", "#F1F4DC"),
)
LANDS = (
    ("#3E7C4F", "#2B5B3B"),
    ("#7A6A4F", "#55493A"),
    ("#2F5D73", "#20424F"),
    ("#8A5A44", "#5F3B2D"),
)


def paint_photo(scene: int, *, rounded: float = 0) -> Callable[[Canvas, Rect], None]:
    """Return a painter of a landscape made from a number."""

    def paint(canvas: Canvas, rect: Rect) -> None:
        rng = random.Random(scene)
        sky, land = rng.choice(SKIES), rng.choice(LANDS)
        canvas.fill(rect, canvas.color(sky[0]), (rounded,) * 4)
        middle = rect.top + round(rect.height * 0.45)
        canvas.fill(Rect(rect.left, middle, rect.right, rect.bottom), canvas.color(sky[1]))
        sun = round(rect.width * rng.uniform(0.07, 0.12))
        x = rect.left + round(rect.width * rng.uniform(0.2, 0.8))
        y = rect.top + round(rect.height * rng.uniform(0.15, 0.4))
        canvas.fill(Rect(x - sun, y - sun, x + sun, y + sun), canvas.color("#FFF3C9"), (sun,) * 4)
        for layer, color in enumerate(land):
            base = rect.top + rect.height * (0.55 + 0.2 * layer)
            phase = rng.uniform(0, 6)
            points = [(float(rect.left), float(rect.bottom))]
            for i in range(25):
                wave = math.sin(i / 24 * 7 + phase) + 0.4 * math.sin(i / 24 * 17 + phase * 2)
                points.append((rect.left + rect.width * i / 24, base - rect.height * 0.07 * wave))
            points.append((float(rect.right), float(rect.bottom)))
            canvas.polygon(points, canvas.color(color))

    return paint


@lru_cache(maxsize=24)
def _thumbnail(place: Path, changed_ns: int, size: int, side: int) -> "Image.Image | None":
    """Return a picture no larger than `side` pixels; None for a file that is none."""
    del changed_ns, size
    from PIL import Image, ImageOps

    try:
        with Image.open(place) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                return None
            opened.draft("RGB", (side, side))
            opened.thumbnail((side, side))
            return ImageOps.exif_transpose(opened).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        # A file may be named like a picture and be anything.
        return None


def paint_file(storage: SharedStorage, path: str, *, fills: bool) -> Callable[[Canvas, Rect], None]:
    """Return a painter of a picture file: filling the place, or whole in the middle of it."""

    def paint(canvas: Canvas, rect: Rect) -> None:
        if rect.empty:
            return
        try:
            place = storage.open_path(path)
            facts = place.stat()
        except (OSError, PhoneError):
            canvas.fill(rect, canvas.color("surface2"))
            return
        side = 480 if fills else 1080
        image = _thumbnail(place, facts.st_mtime_ns, facts.st_size, side)
        if image is None:
            canvas.fill(rect, canvas.color("surface2"))
            return
        wide, high = rect.width / image.width, rect.height / image.height
        if fills:
            part = max(wide, high)
            cut = (round(rect.width / part), round(rect.height / part))
            left, top = (image.width - cut[0]) // 2, (image.height - cut[1]) // 2
            canvas.picture(image.crop((left, top, left + cut[0], top + cut[1])), rect)
            return
        part = min(wide, high)
        size = (max(1, round(image.width * part)), max(1, round(image.height * part)))
        left = rect.left + (rect.width - size[0]) // 2
        top = rect.top + (rect.height - size[1]) // 2
        canvas.picture(image, Rect(left, top, left + size[0], top + size[1]))

    return paint


@gallery.page(".app.GalleryActivity", launcher=True, actions=["android.intent.action.PICK"])
def photos(page: Page[Photos]) -> View:
    """Show every picture in a grid, the newest first."""
    storage = page.host.storage
    shown = storage.pictures()[:SHOWN_PHOTOS]
    if not shown:
        return screen(title_bar("Photos"), empty("gallery", "No photos yet"))
    days: dict[date, list[StoredFile]] = {}
    for photo in shown:
        days.setdefault(datetime.fromtimestamp(photo.modified, UTC).date(), []).append(photo)

    def cell(photo: StoredFile) -> View:
        day = datetime.fromtimestamp(photo.modified, UTC)
        return ui.art(
            paint_file(storage, photo.path, fills=True),
            MATCH,
            116,
            key=f"photo {photo.path}",
            desc=f"Photo taken on {day:%b} {day.day}, {day.year} {day:%H:%M}",
            on_click=page.opener(".app.PhotoActivity", photo=photo.path),
        )

    rows: list[View] = []
    for day, of_day in days.items():
        rows.append(text(f"{day:%a}, {day.day} {day:%b}", TextStyle(15, 500), pad=ui.edges(20, 12)))
        rows.append(grid(3, *(cell(p) for p in of_day), gap=3))
    return screen(title_bar("Photos"), ui.recycler("grid", *rows, id="gallery_root"))


@gallery.page(".app.PhotoActivity", actions=["android.intent.action.VIEW file"])
def photo_page(page: Page[Photos]) -> View:
    """Show one picture; swipe to the next, favour or delete it."""
    storage = page.host.storage
    shown = storage.pictures()
    path = page.local("photo") or page.args.get("photo", "") or _path_of(page.args.get("data", ""))
    at = next((i for i, p in enumerate(shown) if p.path == path), None)
    if at is None:
        return screen(title_bar("", back=page.close), empty("gallery", "Photo not found"))
    liked = path in page.data.favorites

    def swiped(direction: str) -> bool:
        step = {"left": 1, "right": -1}.get(direction, 0)
        if not step or not 0 <= at + step < len(shown):
            return False
        page.set("photo", shown[at + step].path)
        return True

    def favor() -> None:
        if liked:
            page.data.favorites.remove(path)
        else:
            page.data.favorites.append(path)

    def delete() -> None:
        storage.delete(path)
        page.data.favorites[:] = [one for one in page.data.favorites if one != path]
        page.toast("Photo deleted")
        page.close()

    if page.local("delete"):
        message = "It will be deleted from this phone."
        page.confirm("Delete this photo?", message, "Delete", delete, local="delete")
    return screen(
        title_bar(shown[at].name, back=page.close, subtitle=f"{at + 1} of {len(shown)}"),
        ui.art(
            paint_file(storage, path, fills=False),
            MATCH,
            0,
            weight=1,
            on_swipe=swiped,
            id="photo",
            desc=f"Photo {shown[at].name}",
            clickable=False,
        ),
        ui.row(
            ui.icon_button("share", "Share", lambda: page.toast("No app to share with")),
            ui.icon_button(
                "star" if liked else "star_border",
                "Favorite",
                favor,
                tint="warn" if liked else "text",
                selected=liked,
            ),
            ui.icon_button("edit", "Edit", lambda: page.toast("Editing is not available")),
            ui.icon_button("delete", "Delete", page.setter("delete")),
            width=MATCH,
            main=Align.BETWEEN,
            pad=ui.edges(40, 12),
        ),
    )


def _path_of(data: str) -> str:
    """Return the path below the shared storage that a file: address means."""
    path = unquote(data.partition("://")[2])
    for root in ("/sdcard/", "/storage/emulated/0/", "/storage/self/primary/"):
        if path.startswith(root):
            return path.removeprefix(root)
    return ""


@camera.page(
    "com.android.camera.CameraLauncher",
    launcher=True,
    actions=["android.media.action.IMAGE_CAPTURE", "android.media.action.STILL_IMAGE_CAMERA"],
)
def viewfinder(page: Page[NoState]) -> View:
    """Show what the camera sees; the round button takes a picture."""
    allowed = CAMERA in page.host.permissions.of(camera.package)
    taken = int(page.local("taken", "0"))
    storage = page.host.storage
    last = next(iter(storage.pictures()), None)

    def shoot() -> None:
        at = page.now
        while storage.find(photo_path(at)) is not None:
            at += 1
        storage.write(photo_path(at), landscape(4242 + taken, "JPEG"), at)
        page.set("taken", str(taken + 1))
        page.toast("Photo saved")

    def ask() -> None:
        page.host.prompts.require_permission(camera.package, CAMERA, page.setter("asked"))

    body: View
    if allowed:
        body = ui.art(paint_photo(4242 + taken), MATCH, 560, hidden_from_tree=True)
    else:
        body = ui.column(
            text(
                "Camera needs access to take pictures.",
                TextStyle(17, 400, "white", align=Align.CENTER),
                id="message",
            ),
            ui.button("Allow access", ask, look="tonal"),
            cross=Align.CENTER,
            gap=18,
            pad=ui.edges(40, 150),
        )
    return ui.column(
        ui.row(
            ui.icon_button(
                "flashlight", "Flash off", lambda: page.toast("Flash is off"), tint="white"
            ),
            ui.space(weight=1),
            ui.icon_button(
                "settings", "Camera settings", lambda: page.toast("Nothing to set"), tint="white"
            ),
            width=MATCH,
            pad=ui.edges(14, 6),
        ),
        ui.space(weight=1),
        body,
        ui.space(weight=1),
        text("Photo", TextStyle(14, 600, "white"), halign=Align.CENTER, id="mode"),
        ui.row(
            ui.art(
                paint_file(storage, last.path, fills=True),
                56,
                56,
                desc="Last photo",
                id="thumbnail",
                on_click=page.opener("com.android.gallery3d.app.GalleryActivity", gallery.package),
            )
            if last
            else ui.space(56),
            ui.stack(
                ui.row(
                    width=66,
                    height=66,
                    radius=33,
                    fill="white",
                    halign=Align.CENTER,
                    valign=Align.CENTER,
                ),
                width=82,
                height=82,
                radius=41,
                stroke="white",
                desc="Shutter",
                id="shutter_button",
                on_click=shoot if allowed else ask,
                cls="android.widget.ImageView",
            ),
            ui.icon_button(
                "refresh",
                "Switch camera",
                lambda: page.toast("One camera only"),
                tint="white",
                width=56,
                height=56,
            ),
            width=MATCH,
            main=Align.BETWEEN,
            pad=ui.edges(40, 22),
        ),
        text("", ui.CAPTION),
        fill="#101216",
        width=MATCH,
        height=MATCH,
    )

"""Color roles in light and dark.

Values only. Invariant: both themes name the same roles, so a tree can be drawn in either.
"""

from dataclasses import dataclass
from functools import lru_cache

Color = tuple[int, int, int, int]

_LIGHT = {
    "background": "#F6F5FA",
    "surface": "#FFFFFF",
    "surface2": "#ECEBF3",
    "surface3": "#E2E1EB",
    "text": "#1A1B21",
    "text2": "#474A55",
    "text3": "#8E909B",
    "accent": "#3557B7",
    "on_accent": "#FFFFFF",
    "accent_soft": "#DBE2FF",
    "on_accent_soft": "#11296F",
    "outline": "#D9D9E3",
    "error": "#BA1A1A",
    "on_error": "#FFFFFF",
    "error_soft": "#FFDAD6",
    "good": "#1E7D46",
    "good_soft": "#D3F1DC",
    "warn": "#8A5A00",
    "warn_soft": "#FFE9BF",
    "disabled": "#E3E2EA",
    "bubble_in": "#E9E8F1",
    "bubble_out": "#3557B7",
    "on_bubble_out": "#FFFFFF",
    "thumb": "#FFFFFF",
    "switch_off": "#767985",
    "switch_track_off": "#E3E2EA",
    "scrim": "#00000066",
    "key": "#FFFFFF",
    "key2": "#C9CEDF",
    "keyboard": "#E4E6F0",
    "toast": "#F0EFF7",
    "on_toast": "#1A1B21",
    "ripple": "#1A1B2118",
    "shade": "#EEEDF5",
    "tile_off": "#FFFFFF",
    "link": "#2B51C4",
    "white": "#FFFFFF",
    "black": "#000000",
    "on_wallpaper": "#FFFFFF",
    "on_light": "#1A1B21",
}
_DARK = {
    "background": "#111318",
    "surface": "#1D2027",
    "surface2": "#272A32",
    "surface3": "#33363F",
    "text": "#E4E3EA",
    "text2": "#C2C4D0",
    "text3": "#80838F",
    "accent": "#B5C4FF",
    "on_accent": "#07215F",
    "accent_soft": "#324478",
    "on_accent_soft": "#DCE2FF",
    "outline": "#383B45",
    "error": "#FFB4AB",
    "on_error": "#690005",
    "error_soft": "#93000A",
    "good": "#7EDB9B",
    "good_soft": "#12512D",
    "warn": "#FFCB6B",
    "warn_soft": "#5A3D00",
    "disabled": "#2C2F37",
    "bubble_in": "#2A2D36",
    "bubble_out": "#B5C4FF",
    "on_bubble_out": "#07215F",
    "thumb": "#07215F",
    "switch_off": "#8E919D",
    "switch_track_off": "#33363F",
    "scrim": "#00000099",
    "key": "#3A3E49",
    "key2": "#2B2F3A",
    "keyboard": "#1B1E26",
    "toast": "#2E3139",
    "on_toast": "#E4E3EA",
    "ripple": "#FFFFFF1F",
    "shade": "#16181E",
    "tile_off": "#262931",
    "link": "#A9BCFF",
    "white": "#FFFFFF",
    "black": "#000000",
    "on_wallpaper": "#FFFFFF",
    "on_light": "#1A1B21",
}


@lru_cache(maxsize=512)
def parse(color: str) -> Color:
    """Return #RRGGBB or #RRGGBBAA as four numbers from 0 to 255."""
    digits = color.removeprefix("#")
    red, green, blue = (int(digits[i : i + 2], 16) for i in (0, 2, 4))
    return red, green, blue, int(digits[6:8], 16) if len(digits) == 8 else 255


@dataclass(frozen=True, slots=True)
class Theme:
    """A set of colors by role."""

    name: str
    roles: tuple[tuple[str, str], ...]
    dark: bool

    def color(self, role: str) -> Color:
        """Return a role, or a #RRGGBB literal, as RGBA."""
        return _resolve(self, role)


@lru_cache(maxsize=1024)
def _resolve(theme: Theme, role: str) -> Color:
    if role.startswith("#"):
        return parse(role)
    return parse(dict(theme.roles)[role])


LIGHT = Theme("light", tuple(_LIGHT.items()), dark=False)
DARK = Theme("dark", tuple(_DARK.items()), dark=True)

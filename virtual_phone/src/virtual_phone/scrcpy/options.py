"""What a client asks of the scrcpy server on its command line.

Not the meaning of the options: the session reads the record. Invariant: an option that this server
does not know is ignored, as newer clients expect; a value it cannot read is an error naming it.
"""

import re
from dataclasses import dataclass, replace

from virtual_phone.errors import PhoneError
from virtual_phone.scrcpy.dialect import Dialect

MAX_FPS_DEFAULT = 60.0
BIT_RATE_DEFAULT = 8_000_000

# The order of the positional arguments up to version 1.20.
_POSITIONAL = (
    "log_level",
    "max_size",
    "bit_rate",
    "max_fps",
    "lock_video_orientation",
    "tunnel_forward",
    "crop",
    "send_frame_meta",
    "control",
    "display_id",
    "show_touches",
    "stay_awake",
    "codec_options",
    "encoder_name",
    "power_off_on_close",
)
_NEW_DISPLAY = re.compile(r"(?:(\d{2,5})x(\d{2,5}))?(?:/(\d{2,4}))?")
_CODECS = ("h264", "h265", "av1")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """One client's wishes."""

    scid: int = -1
    max_size: int = 0
    """The longer side of the video in pixels; 0: as the display is."""
    bit_rate: int = BIT_RATE_DEFAULT
    max_fps: float = MAX_FPS_DEFAULT
    tunnel_forward: bool = False
    video: bool = True
    audio: bool = True
    control: bool = True
    display_id: int = 0
    new_display: tuple[int, int, int] | None = None
    """Width, height and density of a display to create; zeros: as the phone's own."""
    stay_awake: bool = False
    power_on: bool = True
    clipboard_autosync: bool = True
    send_device_meta: bool = True
    send_dummy_byte: bool = True
    send_codec_meta: bool = True
    send_frame_meta: bool = True
    size_multiple: int = 0
    """What both sides are rounded to; 0: the version's own."""


def parse_options(dialect: Dialect, arguments: list[str]) -> ServerOptions:
    """Read the arguments after the version.

    Raises:
        PhoneError: a value that cannot be read, or the wrong number of positional arguments.
    """
    if dialect.has_named_options:
        pairs = [argument.partition("=") for argument in arguments]
        values = {key: value for key, equals, value in pairs if equals}
    else:
        if len(arguments) != len(_POSITIONAL):
            raise PhoneError(
                f"Expected {len(_POSITIONAL) + 1} parameters, got {len(arguments) + 1}."
            )
        values = dict(zip(_POSITIONAL, arguments, strict=True))
        # These versions always send the dummy byte and the device's name.
    return _read(values)


def _read(values: dict[str, str]) -> ServerOptions:
    options = ServerOptions()
    if values.get("raw_stream") == "true" or values.get("raw_video_stream") == "true":
        options = replace(
            options,
            send_device_meta=False,
            send_dummy_byte=False,
            send_codec_meta=False,
            send_frame_meta=False,
        )
    codec = values.get("video_codec", "h264")
    if codec != "h264":
        known = "this phone encodes h264 only" if codec in _CODECS else "no such codec"
        raise PhoneError(f"Video codec {codec[:20]!r}: {known}.")
    if values.get("video_source", "display") != "display":
        raise PhoneError("This phone has no camera stream.", "Use video_source=display.")
    return replace(
        options,
        scid=_hexadecimal(values, "scid", -1),
        max_size=max(_number(values, "max_size", 0), 0),
        bit_rate=max(
            _number(values, "video_bit_rate", _number(values, "bit_rate", BIT_RATE_DEFAULT)), 10_000
        ),
        max_fps=_rate(values, "max_fps"),
        tunnel_forward=_flag(values, "tunnel_forward", options.tunnel_forward),
        video=_flag(values, "video", options.video),
        audio=_flag(values, "audio", options.audio),
        control=_flag(values, "control", options.control),
        display_id=_number(values, "display_id", 0),
        new_display=_display(values),
        stay_awake=_flag(values, "stay_awake", options.stay_awake),
        power_on=_flag(values, "power_on", options.power_on),
        clipboard_autosync=_flag(values, "clipboard_autosync", options.clipboard_autosync),
        send_device_meta=_flag(values, "send_device_meta", options.send_device_meta),
        send_dummy_byte=_flag(values, "send_dummy_byte", options.send_dummy_byte),
        send_codec_meta=_flag(
            values, "send_stream_meta", _flag(values, "send_codec_meta", options.send_codec_meta)
        ),
        send_frame_meta=_flag(values, "send_frame_meta", options.send_frame_meta),
        size_multiple=max(_number(values, "min_size_alignment", 0), 0),
    )


def _flag(values: dict[str, str], key: str, default: bool) -> bool:
    # As Java's Boolean.parseBoolean: whatever is not "true" is false.
    return values[key].lower() == "true" if key in values else default


def _number(values: dict[str, str], key: str, default: int) -> int:
    text = values.get(key, "")
    if text in ("", "-"):
        return default
    try:
        return int(text)
    except ValueError:
        raise PhoneError(f"Option {key}: {text[:40]!r} is not a whole number.") from None


def _rate(values: dict[str, str], key: str) -> float:
    text = values.get(key, "")
    try:
        rate = float(text) if text else 0.0
    except ValueError:
        raise PhoneError(f"Option {key}: {text[:40]!r} is not a number.") from None
    return min(rate, 120.0) if rate > 0 else MAX_FPS_DEFAULT


def _hexadecimal(values: dict[str, str], key: str, default: int) -> int:
    text = values.get(key, "")
    if not text:
        return default
    try:
        number = int(text, 16)
    except ValueError:
        number = -2
    if not -1 <= number < 1 << 31:
        raise PhoneError(f"Option {key}: {text[:40]!r} is not a 31-bit hexadecimal number.")
    return number


def _display(values: dict[str, str]) -> tuple[int, int, int] | None:
    if "new_display" not in values:
        return None
    match = _NEW_DISPLAY.fullmatch(values["new_display"])
    if match is None:
        raise PhoneError(
            f"Option new_display: {values['new_display'][:40]!r} is not a display.",
            "Use WIDTHxHEIGHT/DENSITY, e.g. 1080x1920/420.",
        )
    return int(match[1] or 0), int(match[2] or 0), int(match[3] or 0)

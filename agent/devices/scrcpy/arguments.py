"""The command line that starts a scrcpy server, in the words of its version.

Not the starting. Names after `Options.java` of the tags v1.21 to v4.1, positions after
`Server.java` of v1.20. Invariant: only options that differ from the version's defaults are given,
and no value holds a character that a shell reads.
"""

from dataclasses import dataclass

from agent.devices.input.input_text import quote
from agent.devices.scrcpy.dialect import Dialect
from agent.errors import DeviceError

SERVER_CLASS = "com.genymobile.scrcpy.Server"
BUILT_IN_PATH = "/dev/null"  # The class path for a phone whose server is built in.


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What one run of the server is asked for."""

    scid: int
    """31 random bits in the socket's name."""
    video: bool = True
    control: bool = True
    forward: bool = True
    """We connect to the server; else it connects to us."""
    max_size_px: int = 0
    """The longer side of the video; 0: the display's own."""
    max_fps: int = 0
    """The most frames a second; 0: no bound."""
    bit_rate: int = 8_000_000
    display: int = 0
    new_display: tuple[int, int, int] | None = None
    """Width and height in pixels and density of a display to create; zeros: the main one's."""


def server_command(ways: Dialect, path: str, options: SessionOptions) -> str:
    """Return the shell command. Raises DeviceError when the version cannot do what is asked."""
    if options.new_display is not None and not ways.has_new_display:
        raise DeviceError(
            f"scrcpy {ways} cannot create a display.", "Use a server of version 3.0 or newer."
        )
    words = _named(ways, options) if ways.has_named_options else _positional(options)
    return f"CLASSPATH={quote(path)} app_process / {SERVER_CLASS} {ways} {' '.join(words)}"


def _named(ways: Dialect, options: SessionOptions) -> list[str]:
    prefix = "video_" if ways.has_video_names else ""
    given: dict[str, str] = {"log_level": "info", "clipboard_autosync": "false"}
    if ways.has_scid:
        given["scid"] = f"{options.scid:08x}"
    if ways.has_audio:
        given["audio"] = "false"
    if ways.can_skip_video and not options.video:
        given["video"] = "false"
    if not options.control:
        given["control"] = "false"
    if options.forward:
        given["tunnel_forward"] = "true"
    if options.max_size_px:
        given["max_size"] = str(options.max_size_px)
    if options.max_fps:
        given["max_fps"] = str(options.max_fps)
    if options.video:
        given[f"{prefix}bit_rate"] = str(options.bit_rate)
    if options.display:
        given["display_id"] = str(options.display)
    if options.new_display is not None:
        given["new_display"] = _new_display(options.new_display)
    # Cleaning up would delete the file that is kept for the next run, and nothing is changed.
    given["cleanup"] = "false"
    given["power_on"] = "false"
    return [f"{key}={value}" for key, value in given.items() if _knows(ways, key)]


def _knows(ways: Dialect, key: str) -> bool:
    # Both came with 1.22 and 1.24; older servers refuse words they do not know.
    if key == "cleanup":
        return ways.version >= (1, 22, 0)
    return key != "power_on" or ways.version >= (1, 24, 0)


def _positional(options: SessionOptions) -> list[str]:
    def flag(value: bool) -> str:
        return "true" if value else "false"

    return [
        *("info", str(options.max_size_px), str(options.bit_rate), str(options.max_fps), "-1"),
        *(flag(options.forward), "-", "true", flag(options.control), str(options.display)),
        *("false", "false", "-", "-", "false"),
    ]


def _new_display(wanted: tuple[int, int, int]) -> str:
    width, height, dpi = wanted
    size = f"{width}x{height}" if width and height else ""
    return f"{size}/{dpi}" if dpi else size


def socket_name(ways: Dialect, scid: int) -> str:
    """Return the abstract socket that a run listens on or connects to."""
    return f"scrcpy_{scid:08x}" if ways.has_scid else "scrcpy"

"""What differs between the versions of scrcpy's protocol, as a client must know it.

Facts read from the tags v1.20 to v4.1 of the scrcpy project (`doc/develop.md`, `Options.java`,
`ControlMessageReader.java`, `Streamer.java`); of 5.0 and 5.0.1 from clients that speak them without
a difference to 4.1 (ya-webadb 3.0.0-beta.4, whose option classes of 5.0 are 4.1's). Not a codec:
`messages` and `packets` are. Invariants: one `Dialect` answers every question about a version, so
no other module compares numbers; a version newer than the newest one known is spoken as that one.
"""

import re
from dataclasses import dataclass

from agent.errors import DeviceError

OLDEST = (1, 20, 0)
NEWEST = (5, 0, 1)
BUILT_IN = "3.3.4"  # The version asked of a server that speaks all of them.

# A fork adds a word of its own, as scrcpy-ez's `4.1-ez2.2.2`. No shell reads any of the letters.
_VERSION = re.compile(
    r"(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?(?:(?![0-9])[A-Za-z0-9._+-]{1,40})?", re.ASCII
)


def written(version: tuple[int, int, int]) -> str:
    """Return a version as scrcpy writes it."""
    major, minor, patch = version
    return f"{major}.{minor}.{patch}" if patch else f"{major}.{minor}"


SPOKEN = (
    f"Use a server of version {written(OLDEST)} or newer; 3.3.4 to {written(NEWEST)} are tested."
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One version's ways."""

    version: tuple[int, int, int]
    word: str
    """The server's own name for its version; it accepts no client that gives another."""

    def __str__(self) -> str:
        return self.word

    @property
    def is_unread(self) -> bool:
        """Whether it is newer than the newest version known, and spoken as that one."""
        return self.version > NEWEST

    @property
    def caution(self) -> str:
        """What may explain a failure of this version; a sentence, or empty."""
        if not self.is_unread:
            return ""
        return (
            f"scrcpy {self.word} is newer than {written(NEWEST)}, the newest version known here, "
            "and is spoken to in that one's ways."
        )

    def _since(self, major: int, minor: int, patch: int = 0) -> bool:
        return self.version >= (major, minor, patch)

    # --- starting ----------

    @property
    def has_named_options(self) -> bool:
        """`key=value` arguments; before, fifteen positional ones."""
        return self._since(1, 21)

    @property
    def has_scid(self) -> bool:
        """The socket's name ends in an id of the client's; before, one client at a time."""
        return self._since(2, 0)

    @property
    def has_audio(self) -> bool:
        """There is an audio stream, on unless refused."""
        return self._since(2, 0)

    @property
    def has_video_names(self) -> bool:
        """`video_bit_rate` and its kin; before, `bit_rate`."""
        return self._since(2, 0)

    @property
    def can_skip_video(self) -> bool:
        """A control socket can be had without a video stream."""
        return self._since(2, 1)

    @property
    def has_new_display(self) -> bool:
        """A virtual display can be created."""
        return self._since(3, 0)

    # --- the first bytes ----------

    @property
    def meta_has_size(self) -> bool:
        """The device's name is followed by u16 width and u16 height."""
        return not self._since(2, 0)

    @property
    def has_codec_header(self) -> bool:
        """The video begins with a codec id."""
        return self._since(2, 0)

    @property
    def has_session_packets(self) -> bool:
        """The size comes in packets of its own, again after every change."""
        return self._since(4, 0)

    # --- frames ----------

    @property
    def config_flag(self) -> int:
        """The bit of the time stamp that marks a codec configuration; 0: all 64 bits are set."""
        if self._since(4, 0):
            return 1 << 62
        return 1 << 63 if self._since(1, 23) else 0

    @property
    def key_flag(self) -> int:
        """The bit that marks a key frame; 0: not marked."""
        if self._since(4, 0):
            return 1 << 61
        return 1 << 62 if self._since(1, 23) else 0

    # --- control ----------

    @property
    def touch_has_action_button(self) -> bool:
        """Touches carry the button that changed."""
        return self._since(2, 0)

    @property
    def scroll_has_buttons(self) -> bool:
        """Scrolls end in the pressed buttons."""
        return self._since(1, 22)

    @property
    def scroll_is_fixed_point(self) -> bool:
        """Scroll distances are signed 16-bit fractions; before, whole steps of 32 bits."""
        return self._since(1, 25)

    @property
    def scroll_full_scale(self) -> int:
        """How many wheel steps the largest distance stands for (scrcpy pull request 6172)."""
        return 16 if self._since(3, 3, 1) else 1

    @property
    def clipboard_has_sequence(self) -> bool:
        """Setting the clipboard is acknowledged by number; asking for it names a copy key."""
        return self._since(1, 21)

    @property
    def has_uhid_destroy(self) -> bool:
        """A message takes an input device back, and an unknown one is only logged."""
        return self._since(2, 7)

    @property
    def display_power_is_mode(self) -> bool:
        """Display power is 0 (off) or 2 (on), as Android's modes; since 3.0 it is a truth value."""
        return not self._since(3, 0)

    @property
    def has_start_app(self) -> bool:
        return self._since(3, 0)

    @property
    def has_reset_video(self) -> bool:
        """A new key frame can be asked for."""
        return self._since(3, 1)


def dialect(version: str) -> Dialect:
    """Return the ways of a version. Raises DeviceError for one that is not spoken here."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise DeviceError(
            f"{version[:40]!r} is not a version of scrcpy that is spoken here.", SPOKEN
        )
    numbers = (int(match[1]), int(match[2]), int(match[3] or 0))
    if numbers < OLDEST:
        raise DeviceError(f"A scrcpy server of version {version} is too old.", SPOKEN)
    return Dialect(numbers, version)

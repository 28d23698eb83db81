"""What differs between the versions of scrcpy's wire protocol.

Facts read from the tags v1.20 to v4.1 of the scrcpy project and from its `doc/develop.md`; 5.0 and
5.0.1 changed no byte of 4.1's (compared by ya-webadb, whose options of 5.0 are those of 4.1). Not a
codec: `control` and `stream` are. Invariant: one `Dialect` answers every question about a version,
so no other module compares version numbers.
"""

import re
from dataclasses import dataclass

from virtual_phone.errors import PhoneError

OLDEST = (1, 20)
NEWEST_MAJOR = 5

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?(?:[-+_.][A-Za-z0-9._+-]{1,40})?")


@dataclass(frozen=True, slots=True)
class Dialect:
    """One version's ways."""

    version: tuple[int, int, int]

    def _since(self, major: int, minor: int) -> bool:
        return self.version[:2] >= (major, minor)

    # -- start ---------------------------------------------------------------------------------

    @property
    def has_named_options(self) -> bool:
        """`key=value` arguments; before, fifteen positional ones."""
        return self._since(1, 21)

    @property
    def has_audio(self) -> bool:
        """An audio socket between video and control."""
        return self._since(2, 0)

    @property
    def has_scid(self) -> bool:
        """Socket names that end in the client's id."""
        return self._since(2, 0)

    @property
    def meta_has_size(self) -> bool:
        """The device's name is followed by u16 width and u16 height."""
        return not self._since(2, 0)

    @property
    def has_codec_header(self) -> bool:
        """A stream begins with its codec id."""
        return self._since(2, 0)

    @property
    def has_session_packets(self) -> bool:
        """The size comes in a 12-byte packet, again after each change."""
        return self._since(4, 0)

    # -- frames --------------------------------------------------------------------------------

    @property
    def config_flag(self) -> int:
        """The bit of the 64-bit time stamp that marks a codec configuration; 0: all bits set."""
        if self.has_session_packets:
            return 1 << 62
        return 1 << 63 if self._since(1, 23) else 0

    @property
    def key_flag(self) -> int:
        """The bit that marks a key frame; 0: not marked."""
        if self.has_session_packets:
            return 1 << 61
        return 1 << 62 if self._since(1, 23) else 0

    @property
    def size_multiple(self) -> int:
        """What both sides of the video are a multiple of, unless the client asks otherwise."""
        return 1 if self.has_session_packets else 8

    # -- control -------------------------------------------------------------------------------

    @property
    def touch_has_action_button(self) -> bool:
        """Touch messages carry the button that changed."""
        return self._since(2, 0)

    @property
    def scroll_is_fixed_point(self) -> bool:
        """Scroll distances are signed 16-bit fractions; before, whole steps of 32 bits."""
        return self._since(1, 25)

    @property
    def scroll_unit(self) -> float:
        """How many wheel steps a full-scale distance stands for."""
        return 16.0 if self.version >= (3, 3, 1) else 1.0

    @property
    def scroll_has_buttons(self) -> bool:
        """Scroll messages end in the pressed buttons."""
        return self._since(1, 22)

    @property
    def clipboard_has_sequence(self) -> bool:
        """Setting the clipboard can be acknowledged; asking for it names a copy key."""
        return self._since(1, 21)

    @property
    def has_uhid(self) -> bool:
        """Messages 12 and up are UHID and what came after."""
        return self._since(2, 4)

    @property
    def uhid_has_name(self) -> bool:
        """Creating a UHID device names it."""
        return self._since(2, 7)

    @property
    def uhid_has_ids(self) -> bool:
        """Creating a UHID device gives a vendor and a product."""
        return self._since(3, 1)

    @property
    def has_uhid_destroy(self) -> bool:
        """Message 14 removes a UHID device; before, it opened the keyboard settings."""
        return self._since(2, 7)

    @property
    def logs_refusals_shortly(self) -> bool:
        """An event that Android refuses is logged in two lines; before, with the whole stack."""
        return self._since(3, 3)


def dialect(version: str) -> Dialect:
    """Return the ways of a version.

    Raises:
        PhoneError: not a version this phone speaks.
    """
    match = _VERSION.fullmatch(version)
    if match is not None:
        numbers = (int(match[1]), int(match[2]), int(match[3] or 0))
        if numbers[:2] >= OLDEST and numbers[0] <= NEWEST_MAJOR:
            return Dialect(numbers)
    raise PhoneError(
        f"The scrcpy server built into this phone does not speak version {version[:40]!r}.",
        "Use a client of version 1.20 to 5.0.1.",
    )

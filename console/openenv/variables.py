"""What the environment variables of android_env say, with their defaults (docs/contracts.md, 3.5).

Invariant: a variable that cannot be followed is refused by name, never passed over.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from agent.episodes.rewards import Rewards
from agent.errors import ConfigError

VIRTUAL = "virtual"  # The AVD name that stands for virtual phones.


class ImageFormat(StrEnum):
    """How pictures are encoded."""

    JPEG = "JPEG"
    PNG = "PNG"


class PhoneAccess(StrEnum):
    """How virtual phones are reached."""

    IN_PROCESS = "in-process"
    ADB = "adb"


class Variables(msgspec.Struct, frozen=True, kw_only=True):
    """What they say."""

    avd_name: str = VIRTUAL
    """ANDROID_AVD_NAME: an emulator's, or `virtual`."""
    task_path: str = "everyday"
    """ANDROID_TASK_PATH: a suite's name or file, or a task of android_env (.textproto)."""
    task: str = ""
    """SWITCHBOARD_ENV_TASK: the task of a reset that names none; empty: by its seed."""
    image_format: ImageFormat = ImageFormat.JPEG
    image_quality: int = 85
    looks: str = "both"
    """SWITCHBOARD_ENV_LOOKS: pixels, tree or both."""
    rewards: Rewards = Rewards.SPARSE
    """SWITCHBOARD_ENV_REWARDS: sparse or shaped."""
    way: PhoneAccess = PhoneAccess.IN_PROCESS
    """SWITCHBOARD_ENV_WAY: virtual phones in the server's process, or over adb as emulators are."""
    adb_path: str = ""
    record: str = ""
    """SWITCHBOARD_ENV_RECORD: which episodes become sessions: all, failures, a share, no."""

    @property
    def in_process(self) -> bool:
        """Whether the phones are in the server's process; emulators never are."""
        return self.avd_name == VIRTUAL and self.way is PhoneAccess.IN_PROCESS


def read_variables(environ: Mapping[str, str]) -> Variables:
    """Read them. Raises ConfigError, naming the variable."""

    def one_of(name: str, default: str, known: tuple[str, ...]) -> str:
        value = environ.get(name) or default
        found = next((one for one in known if one.lower() == value.lower()), None)
        if found is None:
            raise ConfigError(f"{name} is {value!r}.", f"Set it to one of {', '.join(known)}.")
        return found

    one_of("ANDROID_RUN_HEADLESS", "true", ("true", "1"))
    quality = environ.get("ANDROID_IMAGE_QUALITY") or "85"
    if not quality.isdecimal() or not 1 <= int(quality) <= 100:
        raise ConfigError(f"ANDROID_IMAGE_QUALITY is {quality!r}.", "Set it to 1 to 100.")
    return Variables(
        avd_name=environ.get("ANDROID_AVD_NAME") or VIRTUAL,
        task_path=environ.get("ANDROID_TASK_PATH") or "everyday",
        task=environ.get("SWITCHBOARD_ENV_TASK", ""),
        image_format=ImageFormat(one_of("ANDROID_IMAGE_FORMAT", "JPEG", tuple(ImageFormat))),
        image_quality=int(quality),
        looks=one_of("SWITCHBOARD_ENV_LOOKS", "both", ("pixels", "tree", "both")),
        rewards=Rewards(one_of("SWITCHBOARD_ENV_REWARDS", Rewards.SPARSE, tuple(Rewards))),
        way=PhoneAccess(one_of("SWITCHBOARD_ENV_WAY", PhoneAccess.IN_PROCESS, tuple(PhoneAccess))),
        adb_path=environ.get("ANDROID_ADB_PATH", ""),
        record=environ.get("SWITCHBOARD_ENV_RECORD", ""),
    )

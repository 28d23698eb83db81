"""The doctor says whether a phone has a passport that counts."""

from pathlib import Path

import pytest

from agent.devices.health.passport_check import examine_passport
from agent.devices.passport.passport import Choices, Passport, TreeWay
from agent.devices.passport.passport_file import PassportFolder
from agent.devices.shell.profile import Profile

PHONE = Profile(features=frozenset(), phone="R5CT1234", fingerprint="maker/one:14/A/1:user")


@pytest.mark.parametrize(
    ("fingerprint", "said", "has_remedy"),
    [
        ("", "there is none", True),
        ("maker/one:15/B/2:user", "another build", True),
        (PHONE.fingerprint, "for this build: dump", False),
    ],
)
async def test_a_passport_is_told_by_its_build(
    tmp_path: Path, fingerprint: str, said: str, has_remedy: bool
) -> None:
    passports = PassportFolder.of(tmp_path)
    if fingerprint:
        made = Passport(
            serial="usb",
            phone=PHONE.phone,
            fingerprint=fingerprint,
            choices=Choices(tree=TreeWay.DUMP),
        )
        passports.keep(made)
    found = await examine_passport(passports, "usb", PHONE)
    assert found.ok
    assert said in found.detail
    assert bool(found.remedy) is has_remedy

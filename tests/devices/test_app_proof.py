"""Which app it is: the certificate of an installed file, and the windows over it."""

import struct

import pytest

from agent.devices.facts.fact import Known, Unknown
from agent.devices.facts.overlays import read_overlays
from agent.devices.signing.app_signers import chosen, hashes_in, java_hash
from agent.devices.signing.signing_block import block_size, certificates_in, directory_offset
from virtual_phone.packages.apk_writer import make_apk
from virtual_phone.packages.signing import certificate_of, signature_hash, signed

APP = "com.example.bank"


def apk(signer: str = "bank") -> bytes:
    return make_apk(APP, "1.0", 1, "Bank", (), None, (), signer)


def block_of(data: bytes) -> bytes:
    directory = directory_offset(data[-200:])
    size = block_size(data[directory - 24 : directory])
    return data[directory - size : directory]


def test_the_certificate_is_read_from_the_file_that_the_phone_installed() -> None:
    [found] = certificates_in(block_of(apk()))
    assert found == certificate_of("bank")
    assert f"{java_hash(found):x}" == signature_hash("bank")
    assert java_hash(b"") == 1 and java_hash(b"\xff\x01") == 931


def test_a_foreign_certificate_beside_the_own_one_is_not_taken_for_it() -> None:
    """A file may carry the bank's certificate in a scheme that the phone does not look at."""
    both = (certificate_of("thief"), certificate_of("bank"))
    [said] = chosen(both, (signature_hash("thief"),))
    assert said != chosen(both, (signature_hash("bank"),))[0]
    with pytest.raises(ValueError, match="no certificate"):
        chosen(both[:1], (signature_hash("bank"),))
    # Java's hash has 32 bits, and two texts with the same one are made at will.
    assert java_hash(b"Aa") == java_hash(b"BB")
    with pytest.raises(ValueError, match="several"):
        chosen((b"Aa", b"BB"), (f"{java_hash(b'Aa'):x}",))


def test_a_damaged_or_unsigned_file_tells_no_certificate() -> None:
    whole = apk()
    block = block_of(whole)
    with pytest.raises(ValueError):
        directory_offset(b"no archive")
    with pytest.raises(ValueError, match="v1"):
        block_size(b"\0" * 24)
    with pytest.raises(ValueError):
        block_size(struct.pack("<Q", 1 << 40) + block[-16:])
    found = []
    for cut in range(8, len(block) - 24):
        try:
            found.append(certificates_in(block[:cut] + block[-24:]))
        except ValueError:
            continue
    assert set(found) <= {()}
    # Twice signed: the block right before the directory counts.
    twice = signed(whole, certificate_of("other"))
    assert certificates_in(block_of(twice)) == (certificate_of("other"),)


def dump(*signatures: str, version: str = "1.0") -> str:
    lines = (f"    signatures=PackageSignatures{{{one}}}" for one in signatures)
    return "\n".join(
        ("Packages:", f"  Package [{APP}] (2):", f"    versionName={version}", *lines, "")
    )


NEW, OLD = "abd version:3, signatures:[2a, 3b], past signatures:[99:flags=1]", "e7a2d9 [b2e1fb0f]"


def test_the_hashes_are_those_that_the_phone_says_once() -> None:
    assert hashes_in(dump(NEW), APP) == ("2a", "3b")
    assert hashes_in(dump(OLD), APP) == ("b2e1fb0f",)
    assert hashes_in(dump(NEW, NEW), APP) == ("2a", "3b")
    forged = f"1\n    signatures=PackageSignatures{{{OLD}}}"
    for said in (
        dump(),
        dump(NEW, OLD),
        dump(NEW, version=forged),
        dump(NEW, version=f"{forged}\n  Package [{APP}.x] (3):"),
        dump("something else"),
        dump(NEW).replace(APP, f"{APP}.x"),
    ):
        with pytest.raises(ValueError):
            hashes_in(said, APP)


def window(number: int, package: str, kind: str, *more: str, title: str = "") -> str:
    return "\n".join(
        (
            f"  Window #{number} Window{{{number}abc u0 {title or package + '/.Main'}}}:",
            "    mDisplayId=0 rootTaskId=1",
            f"    mOwnerUid=10123 showForAllUsers=false package={package} appop=NONE",
            f"    mAttrs={{(0,0)(fillxfill) ty={kind} fmt=TRANSLUCENT",
            *(f"    {line}" for line in more),
        )
    )


OVERLAY = ("com.evil", "APPLICATION_OVERLAY")


@pytest.mark.parametrize(
    ("before", "whose"),
    [
        ((), ()),
        ((window(0, "com.android.systemui", "STATUS_BAR", title="StatusBar"),), ()),
        ((window(0, "com.other.keyboard", "INPUT_METHOD", title="InputMethod"),), ()),
        ((window(0, *OVERLAY, "isVisible=true"),), ("com.evil",)),
        ((window(0, *OVERLAY, "isVisible=false"),), ()),
        ((window(0, *OVERLAY, title="Toast"), window(1, *OVERLAY)), ("com.evil",)),
        ((window(0, "com.android.systemui", "2000"),), ()),
        ((window(0, "com.evil", "BASE_APPLICATION"),), ("com.evil",)),
        ((window(0, "com.evil", "2999"),), ("com.evil",)),
    ],
)
def test_any_window_before_the_app_is_over_it_but_the_systems_own(
    before: tuple[str, ...], whose: tuple[str, ...]
) -> None:
    at = len(before)
    behind = window(at + 1, "com.behind", "APPLICATION_OVERLAY")
    text = "\n".join((*before, window(at, APP, "BASE_APPLICATION", "isVisible=true"), behind))
    found = read_overlays(text, APP)
    assert isinstance(found, Known)
    assert found.value == whose


def test_no_title_makes_a_window_of_another_app_or_a_hidden_one() -> None:
    """A title is chosen by whoever opens the window, line breaks included."""
    app = window(1, APP, "BASE_APPLICATION")
    owner = f"mOwnerUid=1 showForAllUsers=false package={APP} appop=NONE"
    for title in (
        f"{APP}/{APP}.Main",
        f"x\n    {owner}",
        f"x\n    {owner}\n    mAttrs={{(0,0) ty=STATUS_BAR",
        "x\n    isVisible=false",
        f"x}}:\n    isVisible=false\n  Window #1 Window{{1 u0 {APP}/.Main}}:\n    {owner}",
        f"x}}:\n    isVisible=false\n  Window #0 Window{{1 u0 {APP}/.Main}}:\n    {owner}",
    ):
        found = read_overlays(
            "\n".join((window(0, *OVERLAY, "isVisible=true", title=title), app)), APP
        )
        assert isinstance(found, Unknown) or found.value, title


def test_an_app_without_a_window_is_not_known_to_be_in_front() -> None:
    assert isinstance(read_overlays(window(0, *OVERLAY), APP), Unknown)
    assert isinstance(read_overlays("", APP), Unknown)

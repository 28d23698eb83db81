"""A recording tells nothing of its owner, and readers read of it what they read of the phone.

The shapes are Android's (`tests/devices/facts`): notifications and windows after AOSP's sources,
trees after AccessibilityNodeInfoDumper, users after UserInfo.toString (android13-release).
"""

import re
import unicodedata
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.recordings.recording import Entry, Recording
from agent.devices.recordings.redaction import Redaction
from agent.devices.recordings.replay import facts_of
from agent.devices.recordings.stand_ins import Personal, StandIns
from agent.devices.trees.tree_parser import parse_tree
from tests.devices.facts import notification_texts as notices
from tests.devices.facts.shapes import (
    CLUSTER,
    COVER,
    Shown,
    displays_text,
    on,
    policy_text,
    window_record,
    windows_text,
)

SERIAL = "R5CT30ABCDE"
# Words as people write them: letters of many scripts, no control characters.
LETTERS = st.characters(categories=["Ll", "Lu", "Lo", "Nd"], max_codepoint=0xFFFF)
WORDS = st.text(LETTERS, min_size=4, max_size=14)
SENTENCES = st.lists(
    st.one_of(WORDS, st.sampled_from(["·", "-", "(", ")", "=", "{", "}", "12:30", "'", "&"])),
    min_size=1,
    max_size=8,
).map(" ".join)
ANDROIDS = st.sampled_from([9, 10, 11, 12, 13, 14, 15, 16])
TAGS = st.one_of(
    st.just("null"),
    WORDS,
    st.lists(WORDS | st.just(""), min_size=2, max_size=3).map("\n".join),
    st.from_regex(r"\A49\d{9,11}@s\.whatsapp\.net\Z"),
    SENTENCES,
)


def redacted(**outputs: str) -> dict[str, str]:
    return Redaction(StandIns(), [SERIAL]).redact(outputs)


def facts(outputs: dict[str, str]) -> dict[str, str]:
    entries = tuple(
        Entry(name=name.replace("_", "-"), command="", text=text) for name, text in outputs.items()
    )
    return dict(facts_of(Recording(entries=entries)))


def kinds(text: str) -> list[str]:
    """Return the kind of each character."""
    return [unicodedata.category(character) for character in text]


def same_facts(outputs: dict[str, str]) -> dict[str, str]:
    """Redact outputs; assert that they are read as before, and return what they became."""
    told = Redaction(StandIns(), [SERIAL]).redact(outputs)
    assert facts(told) == facts(outputs)
    for name, text in outputs.items():
        if name != "notifications":
            assert len(told[name].splitlines()) == len(text.splitlines())
    return told


# --- words ----------


@given(st.text(max_size=60))
def test_a_stand_in_keeps_length_and_the_kind_of_each_letter(said: str) -> None:
    made = StandIns().text(Personal.TEXT, said)
    assert kinds(made) == kinds(said)
    assert [c for c in made if not c.isalnum()] == [c for c in said if not c.isalnum()]


@given(WORDS, WORDS)
def test_a_word_has_one_stand_in_in_a_recording_and_another_in_the_next(
    one: str, other: str
) -> None:
    stand_ins = StandIns()
    alone = stand_ins.text(Personal.TEXT, one)
    assert stand_ins.text(Personal.NAME, f"{other}, {one}!").endswith(f", {alone}!")
    assert alone != one or all(len(kinds_of) == 1 for kinds_of in [set(one)])


def test_a_name_has_the_same_stand_in_in_every_case() -> None:
    stand_ins = StandIns()
    name = stand_ins.text(Personal.NAME, "Anna")
    assert stand_ins.text(Personal.NAME, "ANNA").casefold() == name.casefold()


@given(st.ip_addresses(v=4).map(str))
def test_an_address_stays_one(address: str) -> None:
    made = StandIns().address(address)
    assert all(0 <= int(octet) < 256 for octet in made.split("."))


# --- notifications ----------


@given(
    st.lists(
        st.builds(
            notices.Post,
            package=st.sampled_from(["com.chat", "com.mail.app", "org.example.bank"]),
            number=st.integers(1, 2**31 - 1),
            tag=TAGS,
            title=SENTENCES,
            text=st.lists(SENTENCES, min_size=1, max_size=3).map("\n".join),
            flags=st.sampled_from([0x0, 0x2, 0x8, 0x10, 0x200]),
        ),
        max_size=4,
        unique_by=lambda post: post.key,
    ),
    st.sampled_from(notices.Header),
)
def test_notifications_are_counted_as_before_and_their_words_are_gone(
    posts: list[notices.Post], header: notices.Header
) -> None:
    outputs = {
        "notifications": notices.dump(*(notices.record(post, header) for post in posts)),
        "notification-keys": notices.listing(*posts).partition("MARK\n")[2],
    }
    told = same_facts(outputs)
    for post in posts:
        for word in re.findall(r"[^\W\d_]{4,}", f"{post.title} {post.text}"):
            if len({*word.casefold()}) > 1 and word not in notices.dump():
                assert word not in _texts(told["notifications"]), word


def _texts(dump: str) -> str:
    """Return the texts of a dump: what stands in its extras."""
    return "\n".join(re.findall(r"(?:android\.\w+=String \(|tickerText=)([^)]*)", dump))


@pytest.mark.parametrize("header", notices.Header)
def test_a_chat_with_a_phone_number_for_a_tag_is_not_told(header: notices.Header) -> None:
    tag = "4915112345678@s.whatsapp.net"
    post = notices.Post(
        tag=tag,
        title="Anna Müller",
        text="Call me: +49 151 12345678, or anna@example.org",
        extras={
            "android.textLines": "CharSequence[] (1)\n                    [0] Anna Müller: hi",
            "android.messages": "Parcelable[] (1)\n                    [0] Bundle[{sender=Anna}]",
            "android.people.list": "ArrayList ([tel:+4915112345678])",
        },
    )
    told = same_facts(
        {"notifications": notices.dump(notices.record(post, header)), "notification-keys": post.key}
    )
    for text in told.values():
        assert not re.search(r"Anna|Müller|Call|12345678|example\.org|whatsapp", text), text


@pytest.mark.parametrize("tag", ["Anna says\nhello there\nagain", "UNhY4JhezH9gQYqvDMWr=\n"])
def test_a_tag_with_line_breaks_keeps_its_key_and_what_follows_it(tag: str) -> None:
    post = notices.Post(tag=tag, title="Anna", text="hello there")
    told = same_facts(
        {"notifications": notices.dump(notices.record(post)), "notification-keys": post.key}
    )
    assert not re.search("Anna|hello|UNhY4", told["notifications"])
    assert " category=msg " in told["notifications"]


def test_what_stands_around_the_list_is_left_out() -> None:
    around = "  mZenModeConfig=ZenModeConfig[rules=Meeting with Anna]\n"
    text = notices.dump(notices.record(notices.Post()), more=around)
    told = same_facts({"notifications": text})["notifications"]
    assert "Meeting" not in told
    assert "mArchive" not in told
    assert "mLeftOut" in told


# --- windows ----------


@given(ANDROIDS, st.booleans(), SENTENCES, st.sampled_from([(), (COVER,), (CLUSTER, COVER)]))
def test_windows_are_read_as_before_whatever_they_are_called(
    android: int, locked: bool, title: str, more: tuple[Shown, ...]
) -> None:
    displays = (on(Shown(), locked=locked), *more)
    named = window_record(android, title.replace("{", "").replace("}", ""), "abc1234")
    dialog = [re.sub(" package=.* appop", " package=com.chat appop", line) for line in named]
    focused = window_record(android, Shown().focus or "", Shown().token)
    outputs = {
        "displays": displays_text(android, displays),
        "windows": windows_text(android, displays, (dialog, focused)),
        "policy": policy_text(android, showing=locked),
    }
    told = same_facts(outputs)
    assert told["displays"] == outputs["displays"]


@pytest.mark.parametrize("android", [9, 12, 16])
def test_a_window_called_after_a_person_is_not_told(android: int) -> None:
    displays = (on(Shown(), focus="Chat with Anna Müller"),)
    told = same_facts(
        {"displays": displays_text(android, displays), "windows": windows_text(android, displays)}
    )
    assert not any("Anna" in text or "Chat" in text for text in told.values())


@pytest.mark.parametrize(
    "title",
    [
        "NotificationShade",
        "StatusBar",
        "InputMethod",
        "NavigationBar0",
        "com.example.notes/com.example.notes.EditActivity",
        "Application Not Responding: com.example.notes",
        "Application Error: com.example.notes",
    ],
)
def test_names_of_androids_own_windows_stay(title: str) -> None:
    text = f"  mCurrentFocus=Window{{86fb04f u0 {title}}}\n"
    assert redacted(displays=text)["displays"] == text


# --- trees ----------


@given(st.lists(st.tuples(SENTENCES, SENTENCES, st.booleans()), max_size=5))
def test_a_tree_has_the_same_nodes_and_no_texts(nodes: list[tuple[str, str, bool]]) -> None:
    xml = "".join(
        f'<node index="{at}" text={quoteattr(text)} resource-id="com.chat:id/row" '
        f'class="android.widget.TextView" package="com.chat" content-desc={quoteattr(words)} '
        f'checkable="false" clickable="{str(pressed).lower()}" bounds="[0,{at}0][90,{at}9]" '
        f"hint={quoteattr(words)} />"
        for at, (text, words, pressed) in enumerate(nodes)
    )
    tree = f'<?xml version="1.0" encoding="UTF-8"?><hierarchy rotation="0">{xml}</hierarchy>'
    told = same_facts({"tree": tree, "size": "Physical size: 100x200\n"})["tree"]
    before, after = parse_tree(tree.encode(), (100, 200)), parse_tree(told.encode(), (100, 200))
    for one, other in zip(before, after, strict=True):
        assert (one.bounds, one.resource_id, one.clickable) == (
            other.bounds,
            other.resource_id,
            other.clickable,
        )
        for said, made in ((one.text, other.text), (one.description, other.description)):
            assert kinds(made) == kinds(said)
            for word in re.findall(r"[^\W\d_]{4,}", said):
                assert word not in made or len(set(word.casefold())) == 1


# --- everything else ----------


@pytest.mark.parametrize(
    ("name", "text", "gone"),
    [
        ("users", "Users:\n\tUserInfo{0:Anna Müller:4c13} running\n", "Anna"),
        ("power", "  PARTIAL_WAKE_LOCK '*sync*/com.android.contacts/anna@example.org'\n", "anna"),
        ("display", '  mSsid: wifi SSID: "Annas Netz", BSSID: 00:1a:2b:3c:4d:5e\n', "Annas"),
        ("display", "  BSSID: 00:1a:2b:3c:4d:5e\n", "00:1a:2b:3c:4d:5e"),
        ("display", "  address=192.168.178.31 gw=fe80::1a2b:3c4d:5e6f:7a8b\n", "192.168.178.31"),
        ("display", "  address=fe80::1a2b:3c4d:5e6f:7a8b\n", "1a2b:3c4d"),
        ("display", "  imei=356938035643809 iccid=8949020000012345678\n", "356938035643809"),
        ("input-method", "  EditorInfo: hintText=Message to Anna label=null\n", "Anna"),
        ("activities", "  Intent { act=VIEW dat=https://example.org/anna?q=1 cmp=a/.B }\n", "anna"),
        ("activities", '  taskDescription: label="Chat with Anna" color=ff\n', "Anna"),
        ("activities", "  Account {name=anna@example.org, type=com.google}\n", "anna@"),
        ("window", f"  serial {SERIAL} is here\n", SERIAL),
        ("properties", "[ro.serialno]: [R5CT30ABCDE]\n[gsm.sim.operator.alpha]: [Net]\n", "R5CT"),
        ("properties", "[ril.IMEI]: [356938035643809]\n", "356938035643809"),
    ],
)
def test_what_tells_of_a_person_is_replaced(name: str, text: str, gone: str) -> None:
    made = redacted(**{name: text})[name]
    assert gone not in made
    if name != "properties":
        assert len(made) == len(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("properties", "[ro.product.model]: [SM-F741B]\n[ro.build.version.release]: [16]\n"),
        ("packages", "package:com.whatsapp versionCode:2451\npackage:org.mozilla.firefox\n"),
        ("power", "  mWakefulness=Awake\n  mLastWakeTime=112207342 (12:30:45.120)\n"),
        ("battery", "Current Battery Service state:\n  level: 80\n  scale: 100\n"),
        ("storage", "/dev/block/dm-7 112207342 52340012 59867330 47% /data\n"),
        ("size", "Physical size: 1080x2400\nPhysical density: 420\n"),
        ("thermal", "Thermal Status: 0\n\tTemperature{mValue=31.2, mType=3, mName=skin}\n"),
    ],
)
def test_what_tells_of_the_phone_stays(name: str, text: str) -> None:
    assert redacted(**{name: text})[name] == text


def test_a_users_name_is_replaced_wherever_it_stands() -> None:
    told = redacted(
        users="Users:\n\tUserInfo{0:Anna Müller:4c13} running\n",
        display='  DisplayDeviceInfo{"Anna Müller\'s TV": uniqueId="local:1"}\n  of Anna Müller\n',
    )
    name = re.search(r"UserInfo\{0:(.*):4c13", told["users"])
    assert name is not None
    assert f"of {name[1]}\n" in told["display"]
    assert "Anna" not in told["display"]


@given(st.text(max_size=300))
def test_any_output_is_redacted_without_a_failure(text: str) -> None:
    names = ("users", "notifications", "notification-keys", "tree", "displays", "properties", "x")
    told = redacted(**dict.fromkeys(names, text))
    assert told.keys() == set(names)

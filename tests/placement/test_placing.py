"""Who gets which phone: once, only what fits, within limits, and nobody waits for ever."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.facts.fact import Unknown, known
from agent.placement.needs import Needs, parse_needs
from agent.placement.phone_facts import Fit, PhoneFacts, fit_of
from agent.placement.placing import PATIENCE, Ask, Phone, Shares, place
from agent.placement.reasons import why_waiting
from agent.records import DeviceInfo, DeviceState

TAGS = ("wall", "lab", "slow")
ACCOUNTS = ("", "ana", "ben", "eve")


def phone(
    serial: str,
    *tags: str,
    facts: PhoneFacts | None = None,
    held: bool = False,
    used: int = 0,
    driver: str = "",
    state: DeviceState = DeviceState.ONLINE,
) -> Phone:
    info = DeviceInfo(
        serial=serial,
        state=state,
        tags=tags,
        android="14",
        width_px=1080,
        height_px=2400,
        driver=driver,
    )
    return Phone(info, facts=facts, held=held, used=used)


PHONES = st.lists(
    st.builds(
        lambda tags, held, online, driver: (tags, held, online, driver),
        st.lists(st.sampled_from(TAGS), unique=True),
        st.booleans(),
        st.booleans(),
        st.sampled_from(["", "", "operator"]),
    ),
    max_size=6,
).map(
    lambda all_: [
        phone(
            f"p{at}",
            *tags,
            held=held,
            driver=driver,
            state=DeviceState.ONLINE if online else DeviceState.OFFLINE,
        )
        for at, (tags, held, online, driver) in enumerate(all_)
    ]
)
ASKS = st.lists(
    st.builds(
        lambda account, tags, serial, passed: (account, tags, serial, passed),
        st.sampled_from(ACCOUNTS),
        st.lists(st.sampled_from(TAGS), unique=True, max_size=2),
        st.sampled_from(["", "", "", "p0", "p9"]),
        st.integers(0, PATIENCE + 2),
    ),
    max_size=8,
).map(
    lambda all_: [
        Ask(f"a{at}", account, Needs(tags=() if serial else tuple(tags)), serial, passed=passed)
        for at, (account, tags, serial, passed) in enumerate(all_)
    ]
)


@given(
    ASKS, PHONES, st.integers(0, 3), st.dictionaries(st.sampled_from(ACCOUNTS), st.integers(0, 3))
)
def test_a_phone_is_given_once_to_what_it_fits_and_within_limits(
    asks: list[Ask], phones: list[Phone], most: int, busy: dict[str, int]
) -> None:
    taken = frozenset(one.info.serial for one in phones if one.held)
    shares = Shares(busy=busy, most=most)
    placed = place(asks, phones, shares, taken)
    assert place(asks, phones, shares, taken) == placed, "the same again"
    given_to = dict(placed.grants)
    assert len(given_to) == len(placed.grants)
    assert len(set(given_to.values())) == len(given_to)
    assert not taken & set(given_to.values())
    by_id = {ask.ask_id: ask for ask in asks}
    by_serial = {one.info.serial: one for one in phones}
    count = dict(busy)
    for ask_id, serial in placed.grants:
        ask = by_id[ask_id]
        count[ask.account] = count.get(ask.account, 0) + 1
        if ask.serial:
            assert serial == ask.serial
        else:
            assert by_serial[serial].is_free
            assert set(ask.needs.tags) <= set(by_serial[serial].info.tags)
    for account, number in count.items():
        assert not most or number <= max(most, busy.get(account, 0))
    # Nothing that could be served is left.
    for ask in asks:
        if ask.ask_id in given_to or (most and count.get(ask.account, 0) >= most):
            continue
        assert (
            ask.serial in (set(given_to.values()) | taken)
            if ask.serial
            else not [
                one
                for one in phones
                if one.is_free
                and one.info.serial not in given_to.values()
                and set(ask.needs.tags) <= set(one.info.tags)
            ]
        )
    assert not set(placed.passed) & set(given_to)


@settings(max_examples=60)
@given(st.data())
def test_nobody_is_passed_over_more_often_than_patience_and_those_before_it(
    data: st.DataObject,
) -> None:
    """One asks for a phone that others, of accounts that have fewer phones, ask for for ever."""
    tags = data.draw(st.lists(st.sampled_from(TAGS), unique=True, min_size=1))
    phones = [phone("p0", *tags), phone("p1", "lab"), phone("p2")]
    patient = Ask("patient", "ana", Needs(tags=(tags[0],)))
    asks = [Ask(f"b{at}", data.draw(st.sampled_from(ACCOUNTS))) for at in range(3)]
    asks.insert(data.draw(st.integers(0, 3)), patient)
    before = len(asks[: asks.index(patient)])
    held: dict[str, tuple[str, str]] = {}
    served: dict[str, int] = {}
    number = waited = 0
    for at in range(200):
        # Somebody is always asking for the very same, for an account that has nothing.
        account = data.draw(st.sampled_from(ACCOUNTS))
        asks.append(Ask(f"n{at}", account, data.draw(st.sampled_from([Needs(), patient.needs]))))
        busy: dict[str, int] = {"ana": 5}
        for _, of in held.values():
            busy[of] = busy.get(of, 0) + 1
        now = [replace(one, held=one.info.serial in held) for one in phones]
        placed = place(asks, now, Shares(busy=busy, served=served), frozenset(held))
        by_id = {ask.ask_id: ask for ask in asks}
        for ask_id, serial in placed.grants:
            number += 1
            held[serial] = (ask_id, by_id[ask_id].account)
            served[by_id[ask_id].account] = number
        times = {one: placed.passed.count(one) for one in placed.passed}
        gone = dict(placed.grants)
        asks = [
            replace(ask, passed=ask.passed + times.get(ask.ask_id, 0))
            for ask in asks
            if ask.ask_id not in gone
        ]
        if "patient" in gone:
            return
        [mine] = [ask for ask in asks if ask.ask_id == "patient"]
        waited = mine.passed
        assert waited <= PATIENCE + before
        if held:
            del held[data.draw(st.sampled_from(sorted(held)))]
    # It is served, unless its phone never came free.
    assert "p0" in held or waited <= PATIENCE + before


def test_accounts_share_phones_and_one_that_hands_in_many_keeps_nobody_waiting() -> None:
    asks = [*(Ask(f"a{at}", "ana") for at in range(6)), Ask("b", "ben"), Ask("e", "eve")]
    phones = [phone(f"p{at}") for at in range(4)]
    placed = place(asks, phones, Shares(), frozenset())
    assert [one for one, _ in placed.grants] == ["a0", "b", "e", "a1"]


def test_who_fits_one_phone_only_is_left_it_by_those_who_have_a_choice() -> None:
    asks = [Ask("any"), Ask("picky", needs=parse_needs("tag:wall"))]
    placed = place(asks, [phone("p0", "wall"), phone("p1")], Shares(), frozenset())
    assert dict(placed.grants) == {"any": "p1", "picky": "p0"}


def test_spread_takes_the_phone_that_was_used_longest_ago() -> None:
    phones = [phone("p0", used=3), phone("p1", used=1), phone("p2", used=2)]
    asks = [Ask(f"a{at}", needs=parse_needs("spread")) for at in range(2)]
    placed = place(asks, phones, Shares(), frozenset())
    assert [serial for _, serial in placed.grants] == ["p1", "p2"]


def test_an_account_at_its_limit_waits_and_others_pass_it() -> None:
    asks = [Ask("a", "ana"), Ask("b", "ben")]
    shares = Shares(busy={"ana": 2}, most=2)
    placed = place(asks, [phone("p0"), phone("p1")], shares, frozenset())
    assert dict(placed.grants) == {"b": "p0"}
    said = why_waiting(asks[0], [phone("p0")], shares, {})
    assert said == "waiting: account ana has 2 at work, the most it may at once"


NO_ANSWER = Unknown(reason="`pm list packages` answered: SecurityException")
APP = PhoneFacts(
    sdk=known(34, "34"),
    locale=known("de-DE", "de-DE"),
    packages=known(frozenset({"com.x"}), "package:com.x"),
    named={
        "com.x": known(frozenset({"com.x"}), "package:com.x"),
        "com.y": known(frozenset(), "package:com.x"),
    },
    versions={"com.x": known("3.2.1", "versionName=3.2.1")},
)
SILENT = PhoneFacts(
    sdk=known(34, "34"),
    locale=NO_ANSWER,
    packages=NO_ANSWER,
    named={"com.x": NO_ANSWER, "com.v": known(frozenset({"com.v"}), "package:com.v")},
    versions={"com.v": NO_ANSWER},
)


@pytest.mark.parametrize(
    ("needs", "fit"),
    [
        ("app:com.x", Fit.YES),
        ("app:com.x>=3.2", Fit.YES),
        ("app:com.x>=3.3", Fit.NO),
        ("app:com.y", Fit.NO),
        ("app:com.z", Fit.UNKNOWN),
        ("locale:de", Fit.YES),
        ("locale:de-AT", Fit.NO),
        ("locale:en", Fit.NO),
        ("sdk>=34", Fit.YES),
        ("sdk>=35", Fit.NO),
        ("android>=14", Fit.YES),
        ("android:13", Fit.NO),
        ("screen>=1080x1920", Fit.YES),
        ("screen>=1920x1080", Fit.YES),
        ("screen<=720x1600", Fit.NO),
        ("tag:wall", Fit.NO),
    ],
)
def test_a_phone_is_judged_by_what_it_said(needs: str, fit: Fit) -> None:
    assert fit_of(parse_needs(needs), phone("p0").info, APP) is fit


@pytest.mark.parametrize(
    ("needs", "fit"),
    [
        ("app:com.x", Fit.UNSAID),
        ("locale:de", Fit.UNSAID),
        ("app:com.v", Fit.YES),
        ("app:com.v>=2", Fit.UNSAID),
        ("sdk>=34,app:com.x", Fit.UNSAID),
        ("sdk>=35,app:com.x", Fit.NO),
        ("app:com.z", Fit.UNKNOWN),
    ],
)
def test_what_a_phone_does_not_say_is_no_no(needs: str, fit: Fit) -> None:
    wanted = parse_needs(needs)
    assert fit_of(wanted, phone("p0").info, SILENT) is fit
    if fit is Fit.UNSAID:
        said = why_waiting(Ask("a", needs=wanted), [phone("p0", facts=SILENT)], Shares(), {})
        assert "p0 does not say (`pm list packages` answered: SecurityException)" in said
        assert "none of 1" not in said


def test_a_phone_whose_android_is_not_known_yet_is_not_refused_for_it() -> None:
    unseen = DeviceInfo(serial="p0", state=DeviceState.ONLINE)
    for needs in ("android>=13", "screen>=720x1280"):
        assert fit_of(parse_needs(needs), unseen, None) is Fit.UNSAID
    assert fit_of(parse_needs("android>=13,tag:wall"), unseen, None) is Fit.NO


def test_what_a_phone_was_not_asked_for_is_not_known() -> None:
    assert fit_of(parse_needs("app:com.x"), phone("p0").info, None) is Fit.UNKNOWN
    assert fit_of(parse_needs("tag:wall,app:com.x"), phone("p0").info, None) is Fit.NO


def test_the_reason_says_how_many_have_it_and_who_has_them() -> None:
    other = replace(APP, versions={"com.x": known("3.1", "versionName=3.1")})
    phones = [
        phone("p0", facts=APP, held=True),
        phone("p1", facts=APP, driver="s2"),
        *(phone(f"p{at}", facts=other) for at in (2, 3, 4)),
    ]
    ask = Ask("a", needs=parse_needs("app:com.x>=3.2"))
    said = why_waiting(ask, phones, Shares(), {"p0": "s1"})
    assert said == ("waiting for a phone with com.x >= 3.2: 2 of 5 have it, both in use by s1, s2")
    ask = Ask("a", needs=parse_needs("app:com.x>=4"))
    said = why_waiting(ask, phones, Shares(), {})
    assert said == "waiting for a phone with com.x >= 4: none of 5 has it"
    gone = [phone("p0", facts=APP, state=DeviceState.OFFLINE), phone("p1")]
    said = why_waiting(Ask("a", needs=parse_needs("app:com.x")), gone, Shares(), {})
    assert said == "waiting for a phone with com.x: 1 of 2 has it, 1 of 2 not asked yet, not online"

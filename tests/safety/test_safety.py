"""CONTRACTS 5.7: redaction and policy; the vectors of chapter 7 named "safety"."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.devices.trees.tree_parser import parse_tree
from agent.records import EffectVerb, Element, Foreground, Observation
from agent.safety.approval import is_yes, refused_because
from agent.safety.capabilities import Decision
from agent.safety.effects.acts import Act, ActKind
from agent.safety.effects.context import Context
from agent.safety.effects.judge import judge
from agent.safety.effects.labels import find_named, is_send
from agent.safety.effects.texts import judge_text
from agent.safety.effects.verdict import Risk, Verdict
from agent.safety.redacting.redaction import redact, redact_secrets
from agent.safety.redacting.tree_redaction import redact_tree
from tests.safety.buttons import element


def entering(*shown: Element) -> Verdict:
    """Judge the enter key on a screen that shows these elements."""
    front = Foreground(package="a.b")
    screen = Observation(started_ms=1, ended_ms=2, foreground=front, elements=shown)
    return judge(Act(kind=ActKind.KEY, key="ENTER"), Context(screen=screen))


def test_safety_a_social_security_number_is_blocked() -> None:
    assert judge_text("it is 123-45-6789").decision is Decision.BLOCK
    assert judge_text("123 45 6789").decision is Decision.BLOCK
    assert judge_text("order 123456789").decision is Decision.ALLOW


def test_safety_a_card_is_blocked_and_a_number_that_fails_luhn_is_not() -> None:
    assert judge_text("4111 1111 1111 1111").decision is Decision.BLOCK
    assert judge_text("4111 1111 1111 1112").decision is Decision.ALLOW


def test_safety_an_american_express_card_is_blocked() -> None:
    assert judge_text("3782-822463-10005").decision is Decision.BLOCK
    assert judge_text("378282246310005").decision is Decision.BLOCK


def test_safety_a_password_needs_approval() -> None:
    assert judge_text("pwd: x").decision is Decision.ASK


def test_safety_2001_characters_are_blocked() -> None:
    assert judge_text("x" * 2001).decision is Decision.BLOCK
    assert judge_text("x" * 2000).decision is Decision.ALLOW


def test_safety_pay_now_needs_approval() -> None:
    found = find_named(element("Pay now"))
    assert found is not None
    assert found.verb is EffectVerb.SPEND


def test_safety_a_word_that_only_holds_pay_needs_none() -> None:
    for label in ("PayPal", "Display", "Repay history page", "Bluetooth", "Buyer protection"):
        assert find_named(element(label)) is None


@pytest.mark.parametrize(
    ("label", "verb"),
    [
        ("Buy it for $20", EffectVerb.SPEND),
        ("Place order", EffectVerb.SPEND),
        ("Subscribe | 4.99 a month", EffectVerb.SPEND),
        ("Please press here to pay the bill at once", EffectVerb.SPEND),
        ("Рay nоw", EffectVerb.SPEND),
        ("ＰＡＹ", EffectVerb.SPEND),
        ("P\u0301ay", EffectVerb.SPEND),
        ("Delete", EffectVerb.DELETE),
        ("Delete account", EffectVerb.DELETE),
        ("Erase all data", EffectVerb.DELETE),
        ("Send", EffectVerb.SEND),
        ("Send SMS", EffectVerb.SEND),
        ("Call", EffectVerb.CALL),
        ("Send | 1 recipient", EffectVerb.SEND),
        ("Post | 3 photos", EffectVerb.SEND),
    ],
)
def test_safety_what_cannot_be_undone_needs_approval(label: str, verb: EffectVerb) -> None:
    found = find_named(element(label))
    assert found is not None
    assert found.verb is verb


def test_safety_a_button_without_a_label_is_judged_by_its_id() -> None:
    for name in ("send_button", "btnSend", "pay_now", "delete"):
        assert find_named(element("unlabeled", resource_id=f"com.x:id/{name}")) is not None, name
    assert find_named(element("unlabeled", resource_id="com.x:id/menu")) is None


def test_safety_what_people_wrote_in_a_row_is_not_a_send_button() -> None:
    assert find_named(element("Anna | please send me the file")) is None


def test_safety_a_send_button_with_a_long_label_is_known_by_its_id() -> None:
    for label in ("SMS | to Anna", "To Anna, who is in two of your groups"):
        long = element(label, resource_id="com.x:id/send_message_button")
        found = find_named(long)
        assert found is not None
        assert found.verb is EffectVerb.SEND
        assert is_send(long)


def test_safety_enter_beside_a_send_button_may_send() -> None:
    assert entering(element("Send")).risk is Risk.OUTGOING
    assert entering(element("Search")).decision is Decision.ALLOW


def test_safety_only_a_plain_yes_is_a_yes() -> None:
    assert all(is_yes(answer) for answer in ("Approve", "yes", " OK. ", "y"))
    for answer in (None, "", "no", "Deny", "yes, but later", "not ok", "approve?no"):
        assert not is_yes(answer)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "Nobody answered in time, so the answer is no"),
        ("", "The operator rejected this"),
        ("Deny", "The operator rejected this"),
        ("Deny:", "The operator rejected this"),
        ("Deny: not to Ben: to Anna", 'The operator rejected this: "not to Ben: to Anna"'),
        ("deny: my PIN is in card 4111 1111 1111 1111", "[CARD REDACTED]"),
        ("yes, but later", 'The operator answered "yes, but later", which approves nothing'),
    ],
)
def test_safety_who_asked_is_told_once_what_was_answered_and_why(
    answer: str | None, said: str
) -> None:
    told = refused_because(answer)
    assert said in told
    assert "Deny" not in told
    assert "4111" not in told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SSN 123-45-6789.", "SSN [SSN REDACTED]."),
        ("card 4111-1111-1111-1111 ok", "card [CARD REDACTED] ok"),
        ("amex 3782 822463 10005", "amex [CARD REDACTED]"),
        ("cvv: 123", "[CVV REDACTED]"),
        ("Password: hunter2 !", "[PASSWORD REDACTED] !"),
        ("call 555-123-4567 now", "call [PHONE ***] now"),
        ("+1 (555) 123-4567", "[PHONE ***]"),
        ("+49 (0)30 9018-20500, Berlin", "[PHONE ***], Berlin"),
        ("+442079460958", "[PHONE ***]"),
        ("tel:+33 1.70.18.99.00", "tel:[PHONE ***]"),
        ("+1 555 0115 and +12", "+1 555 0115 and +12"),
        ("a.b+c@example.co.uk", "[EMAIL ***]"),
        ("IBAN DE89 3704 0044 0532 0130 00.", "IBAN [IBAN REDACTED]."),
        ("GB82WEST12345698765432", "[IBAN REDACTED]"),
        ("to FR14 2004 1010 0505 0001 3M02 606 TODAY", "to [IBAN REDACTED] TODAY"),
        ("no DE89 3704 0044 0532 0130 02", "no DE89 3704 0044 0532 0130 02"),
        ("order 4111111111111112", "order 4111111111111112"),
        ("12:30, 45 % and 2026", "12:30, 45 % and 2026"),
    ],
)
def test_personal_data_is_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected


def test_a_hostile_text_is_searched_for_accounts_and_numbers_in_one_pass() -> None:
    for part in ("AB12" + "A" * 36 + "a ", "+1" + " 1" * 30 + "x ", "+" + "(1)" * 40 + "_ "):
        text = part * (20_000 // len(part)) + "@"
        began = time.process_time()
        redact(text)
        assert time.process_time() - began < 60


def test_the_operators_own_addresses_stay_and_secrets_go() -> None:
    said = "write to bob@example.com, pwd: abc, 4111 1111 1111 1111"
    redacted = redact_secrets(said)
    assert "bob@example.com" in redacted
    assert "abc" not in redacted
    assert "4111" not in redacted


@given(st.text(alphabet="0123456789- @.:pwdcvab", max_size=60))
def test_redacting_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(
    st.lists(
        st.sampled_from(
            (
                *("4111 1111 1111 1111", "078-05-1120", "CVV: 123", "cvc2 999", "Pa\u017fsword=x"),
                *("pwd: y", "sk-0123456789abcdef", "Bearer abcdefghijkl", "(415) 555-2671"),
                *("12:30", "7 of 9", "a.b@c.org", "order 12345678", "\u0661\u0662\u0663", "12345"),
            )
        )
        | st.text(max_size=8),
        max_size=4,
    )
)
def test_a_text_is_redacted_the_same_where_every_pattern_is_tried(parts: list[str]) -> None:
    text = " ".join(parts)
    # An at sign makes every pattern be tried, and by itself is no address.
    assert redact(f"@ {text}") == f"@ {redact(text)}"
    assert redact_secrets(f"@ {text}") == f"@ {redact_secrets(text)}"


def test_a_tree_keeps_its_shape_and_loses_personal_data() -> None:
    xml = (
        '<hierarchy><node text="Card 4111 1111 1111 1111 &amp; &quot;more&quot;" '
        'content-desc="a@b.example" password="false" bounds="[0,1080][1080,2400]" />'
        '<node text="hunter2" password="true" bounds="[0,0][1,1]" /></hierarchy>'
    )
    redacted = redact_tree(xml.encode()).decode()
    assert "4111" not in redacted
    assert "a@b.example" not in redacted
    assert "hunter2" not in redacted
    assert 'password="false" bounds="[0,1080][1080,2400]"' in redacted
    assert "&amp; &quot;more&quot;" in redacted


@pytest.mark.parametrize(
    "element",
    [
        """<node text='Call "Bob" at 555-123-4567' />""",
        """<node text="more > 555-123-4567" />""",
        """<node text="more >" content-desc = "555-123-4567" />""",
        """<node hint-text="555-123-4567" tooltip-text="555-123-4567" />""",
        """<android.widget.TextView text="555-123-4567" />""",
        """<node text='it is "555-123-4567"' password='true'></node>""",
    ],
)
def test_a_tree_loses_personal_data_however_it_is_written(element: str) -> None:
    redacted = redact_tree(f"<hierarchy rotation='0'>{element}</hierarchy>".encode())
    assert b"555-123" not in redacted
    assert len(parse_tree(redacted, (1080, 2400))) == 1


@pytest.mark.parametrize(
    "hostile",
    [b"<a '" * 100_000 + b'<a "' * 100_000, b"<a " + b"x" * 500_000 + b">", b"<a>" * 100_000],
)
def test_a_hostile_tree_is_redacted_in_one_pass(hostile: bytes) -> None:
    assert redact_tree(hostile) == hostile

"""Where a look at all texts of a tree finds nothing to redact, no label has anything either."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.loop.screen.elements import number_elements, plain_texts
from agent.records import Bounds, UiNode
from agent.safety.redacting.redaction import any_may_hold, redact

PIECES = st.sampled_from(
    (
        *(
            "Wi-Fi",
            "Order 12",
            "3456789",
            "pass",
            "word: x",
            "4111 1111",
            "1111 1111",
            "a",
            "@b.eu",
        ),
        *(
            "\u200b",
            "\u202e",
            " ",
            "  ",
            "\n",
            "sk",
            "-0123456789abcdefgh",
            "1-415-555",
            "0100",
            "+",
        ),
        *("5550100", "CVV", "12:30", "Bearer", "abcdefghijkl"),
    )
)
TEXTS = st.lists(PIECES, max_size=4).map("".join)
NODES = st.lists(
    st.builds(
        UiNode,
        text=TEXTS,
        description=TEXTS,
        hint=TEXTS,
        class_name=st.sampled_from(("android.widget.TextView", "android.widget.EditText")),
        clickable=st.booleans(),
        parent=st.sampled_from((-1, 0)),
        bounds=st.just(Bounds(left=0.1, top=0.2, right=0.9, bottom=0.3)),
    ),
    max_size=4,
)


@settings(deadline=None, max_examples=300)
@given(NODES)
def test_labels_need_no_redaction_where_the_texts_of_the_tree_need_none(
    nodes: list[UiNode],
) -> None:
    texts = plain_texts(nodes)
    if texts is not None and not any_may_hold(texts):
        assert number_elements(nodes, redact=str) == number_elements(nodes, redact=redact)


def test_texts_that_the_gate_changes_are_not_plain() -> None:
    def nodes(text: str) -> list[UiNode]:
        return [UiNode(text=text, bounds=Bounds(left=0, top=0, right=1, bottom=1))]

    assert plain_texts(nodes("pass word")) is not None
    assert plain_texts(nodes("pass\u200bword")) is None
    assert plain_texts(nodes("\u202edrowssap")) is None
    assert plain_texts(nodes("two  spaces")) is None

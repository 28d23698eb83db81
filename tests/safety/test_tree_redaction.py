"""The XML of a UI tree loses the same, whether it is read as Android writes it or tag by tag."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.safety.redacting.secrets import Secrets
from agent.safety.redacting.tree_redaction import redact_tree

DUMPS = sorted((Path(__file__).parent.parent / "data").rglob("*.xml"))
COMMENT = b"<!-- -->"  # Android writes none, so a tree with one is gone through tag by tag.

VALUES = st.sampled_from(
    (
        *("", "true", "false", "Wi-Fi", "12:30, 14 Nov 2026", "4111 1111 1111 1111", "4111 1111"),
        *("1111 1111", "a@b.example", "&#97;&#64;b.example", "AT&amp;T", "password: hunter2"),
        *("hunter2", "555-123-4567", "a > b", "it's", "<b x='", "'>", "<b x=555-123-4567>", "7\n8"),
        *("android.widget.EditText", "x:id/password", "x:id/pin", "[0,0][1080,2400]", "\0", "é"),
    )
)
NAMES = st.sampled_from(
    (
        *("text", "content-desc", "hint", "tooltip-text", "class", "resource-id", "bounds"),
        *("password", "checked", "x:y"),
    )
)
ATTRIBUTES = st.lists(st.tuples(NAMES, VALUES), max_size=5)
PIECES = st.sampled_from(
    (
        *(" ", "/>", ">", "</node>", "</hierarchy>", "<node>", "<node ", 'text="', '"', "'", "\n"),
        *("<![CDATA[", "]]>", "<?xml version='1.0' ?>", '<?xml version="1.0"?>', "555-123-4567"),
        *("<node text=555-123-4567", "said ", "&lt;", "=", 'x="555-123-4567"', "\u2028"),
    )
)


def tag(attributes: list[tuple[str, str]]) -> str:
    written = "".join(f' {name}="{value}"' for name, value in attributes)
    return f"<node{written} />"


TAGS = ATTRIBUTES.map(tag)
TREES = st.one_of(
    st.lists(TAGS, max_size=5).map(
        lambda tags: f"<?xml version='1.0' ?><hierarchy rotation=\"0\">{''.join(tags)}</hierarchy>"
    ),
    st.lists(st.one_of(TAGS, PIECES), max_size=9).map("".join),
)


@settings(deadline=None, max_examples=300)
@given(TREES)
@example('<a b="<b x=\'4111 1111" text="1111 1111\'>" />')
@example('<a class="EditText" hint="PIN" text="1234" />')
@example(' text="555-123-4567"/>')
def test_a_tree_that_is_read_at_once_loses_what_it_loses_tag_by_tag(tree: str) -> None:
    secrets = Secrets()
    secrets.add("hunter2")
    whole = tree.encode()
    assert redact_tree(whole, secrets.hide) + COMMENT == redact_tree(whole + COMMENT, secrets.hide)


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: path.stem)
def test_a_real_tree_loses_the_same_either_way(dump: Path) -> None:
    whole = dump.read_bytes()
    assert redact_tree(whole) + COMMENT == redact_tree(whole + COMMENT)


def test_a_secret_is_found_in_a_tree_that_holds_nothing_else() -> None:
    secrets = Secrets()
    tree = b'<hierarchy rotation="0"><node text="it is battery staple" /></hierarchy>'
    assert redact_tree(tree, secrets.hide) == tree
    secrets.add("battery staple")
    assert b"staple" not in redact_tree(tree, secrets.hide)

"""What an endpoint says it offers, however it says so."""

import pytest

from agent.errors import ModelError
from agent.models.openai import OpenAIModel
from agent.models.wires.failures import Failures
from agent.models.wires.listing import MAX_MODELS, named_in
from tests.openai_server import openai_server

FAILURES = Failures("m", "http://here/v1", 1.0)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b'{"object": "list", "data": [{"id": "b"}, {"id": "a"}, {"id": "a"}]}', ("a", "b")),
        (b'[{"id": "a"}]', ("a",)),
        (b'{"data": null}', ()),
        (b'{"data": [null, 5, "x", {"id": null}, {"name": "q"}, {"id": "ok"}]}', ("ok",)),
        (b'{"data": [{"id": "a\\u001b[2Jb"}]}', ("ab",)),
        ("\ufeff[]".encode(), ()),
    ],
)
def test_the_names_are_read_whatever_stands_beside_them(
    body: bytes, names: tuple[str, ...]
) -> None:
    assert named_in(body, "application/json", FAILURES) == names


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"<html>", b"{oops", b'{"data": "abc"}', b"5", b"[" * 100_000, b'{"a":1}'],
)
def test_what_is_no_list_says_what_to_check(body: bytes) -> None:
    with pytest.raises(ModelError, match="it sent text/html and no list of models") as caught:
        named_in(body, "text/html", FAILURES)
    assert "model.base_url" in caught.value.remedy
    assert not caught.value.retryable


def test_a_list_without_end_is_cut() -> None:
    body = b"[" + b",".join(b'{"id":"m%d"}' % at for at in range(MAX_MODELS + 5)) + b"]"
    assert len(named_in(body, "", FAILURES)) == MAX_MODELS


async def test_a_page_at_the_endpoints_address_is_a_failure_in_words() -> None:
    async with openai_server([]) as server:
        client = OpenAIModel("m", base_url=server.base_url, timeout_s=20.0)
        assert await client.known_models() == tuple(sorted(server.models))
        server.models_page = b"<html>hello</html>"
        with pytest.raises(ModelError, match="no list of models"):
            await client.known_models()
        await client.close()

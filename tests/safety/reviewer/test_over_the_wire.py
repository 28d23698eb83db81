"""A reviewer behind a real endpoint, by every wire: what is sent, read, and waited for."""

import json
import time

import pytest

from agent.loop.acting.act_reviews import Answered, ask_reviewer
from agent.models.clients import client_class
from agent.models.endpoint import Endpoint
from agent.records import ReviewVerdict
from agent.safety.effects.acts import Act, ActKind
from agent.safety.reviewer.question import PARAMETERS, REVIEW_TOOL, ReviewQuestion
from agent.settings import Wire
from bench.redteam.screens import observe
from tests.openai_server import OpenAIServer, Reply, openai_server, tool
from tests.safety.reviewer.reader import OPENS_A_DOOR


async def asked(wire: Wire, reply: Reply, timeout_s: float = 60.0) -> tuple[Answered, OpenAIServer]:
    seen = observe("app com.home.app .Home\ntitle Home\nrow Front door | Locked")
    act = Act(kind=ActKind.PRESS, element=seen.elements[-1])
    question = ReviewQuestion(acts=(act,), screen=seen, words=("is the door locked?",))
    async with openai_server([reply] * 3) as server:
        endpoint = Endpoint(base_url=server.base_url, wire=wire)
        model = client_class(wire)("m", api_key="k", endpoint=endpoint, timeout_s=60.0)
        answered = await ask_reviewer(model, question, timeout_s=timeout_s, seconds=time.monotonic)
        await model.close()
    return answered, server


@pytest.mark.parametrize("wire", list(Wire))
async def test_a_review_goes_out_and_comes_back_by_every_wire(wire: Wire) -> None:
    answered, server = await asked(wire, Reply(tools=(tool(REVIEW_TOOL, **OPENS_A_DOOR),)))
    assert answered.review.verdict is ReviewVerdict.ASK
    assert answered.review.fault == ""
    assert answered.review.sentence == OPENS_A_DOOR["reason"]
    assert answered.usage.input_tokens > 0
    [request] = server.requests
    sent = json.dumps(request, ensure_ascii=False)
    assert "is the door locked?" in sent and "Front door | Locked" in sent
    assert all(name in sent for name in PARAMETERS["properties"])


@pytest.mark.parametrize("wire", list(Wire))
async def test_an_answer_in_words_is_read_and_another_status_asks(wire: Wire) -> None:
    written = f"Here it is:\n```json\n{json.dumps(OPENS_A_DOOR)}\n```"
    answered, _ = await asked(wire, Reply(text=written))
    assert (answered.review.verdict, answered.review.fault) == (ReviewVerdict.ASK, "")
    refused, _ = await asked(wire, Reply(status=401, error_code="invalid_api_key"))
    assert refused.review.verdict is ReviewVerdict.ASK
    assert refused.review.fault.startswith("it failed")


async def test_an_endpoint_that_hangs_is_waited_for_no_longer_than_said() -> None:
    answered, _ = await asked(Wire.CHAT, Reply(text="late", hesitate_s=60.0), timeout_s=0.3)
    assert answered.review.fault == "it did not answer within 0.3 s"
    assert answered.took_ms < 60_000

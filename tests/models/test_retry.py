"""When a model is asked again; the vectors of chapter 7 named "LLM errors"."""

from collections.abc import Callable

import pytest

from agent.errors import ModelError
from agent.models.model import ModelReply, ModelRequest
from agent.models.retry import complete_with_retries, delay_s

REQUEST = ModelRequest(messages=(), tools=())


class Failing:
    """A model that fails as often as it is told, then answers."""

    name = "failing"
    sees = False
    notice = ""

    def __init__(self, *errors: ModelError) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return ModelReply(text="fine")

    async def close(self) -> None:
        return None


def busy(retry_after_s: float | None = None) -> ModelError:
    return ModelError("busy", retryable=True, status=429, retry_after_s=retry_after_s)


async def ask(model: Failing, random: float = 0.5) -> tuple[ModelReply, list[float], list[int]]:
    waits: list[float] = []
    told: list[int] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def tell(_error: ModelError, attempt: int, _wait_s: float) -> None:
        told.append(attempt)

    reply = await complete_with_retries(
        model, REQUEST, on_text=None, on_failure=tell, sleep=sleep, random=lambda: random
    )
    return reply, waits, told


def test_llm_errors_delays_lie_in_the_documented_ranges() -> None:
    ranges = {1: (3.6, 4.4), 2: (7.2, 8.8), 3: (14.4, 17.6), 4: (28.8, 30.0)}
    for failure, (low, high) in ranges.items():
        assert delay_s(failure, 0.0) == pytest.approx(low)
        assert delay_s(failure, 0.999999) == pytest.approx(high, abs=0.001)


async def test_llm_errors_four_retries_then_an_answer() -> None:
    reply, waits, told = await ask(Failing(*[busy()] * 4))
    assert reply.text == "fine"
    assert waits == [4.0, 8.0, 16.0, 30.0]
    assert told == [1, 2, 3, 4]


async def test_llm_errors_the_fifth_failure_ends_it() -> None:
    model = Failing(*[busy()] * 5)
    with pytest.raises(ModelError, match="failed 5 times in a row; the last time: busy"):
        await ask(model)
    assert model.calls == 5


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_llm_errors_terminal_ones_stop_at_once(status: int) -> None:
    model = Failing(ModelError("no", retryable=False, status=status))
    with pytest.raises(ModelError):
        await ask(model)
    assert model.calls == 1


async def test_llm_errors_retry_after_is_honoured_when_it_is_longer() -> None:
    _, waits, _ = await ask(Failing(busy(60.0), busy(0.5)))
    assert waits == [60.0, 8.0]


async def test_llm_errors_an_endpoint_that_wants_an_hour_has_said_no() -> None:
    with pytest.raises(ModelError):
        await ask(Failing(busy(3600.0)))


def broken() -> ModelError:
    return ModelError("broke off", retryable=True, broke_off=True)


async def test_a_stream_that_broke_is_asked_for_again_in_a_moment() -> None:
    _, waits, _ = await ask(Failing(*[broken()] * 4))
    assert waits == pytest.approx([0.4, 0.8, 1.6, 3.2])
    _, least, _ = await ask(Failing(broken()), random=0.0)
    _, most, _ = await ask(Failing(broken()), random=0.999999)
    assert (*least, *most) == pytest.approx((0.36, 0.44), abs=0.001)


async def test_each_layer_counts_its_own_failures_and_the_fifth_of_both_ends_it() -> None:
    _, waits, told = await ask(Failing(broken(), busy(), broken(), busy()))
    assert waits == pytest.approx([0.4, 4.0, 0.8, 8.0])
    assert told == [1, 2, 3, 4]
    model = Failing(broken(), busy(), broken(), busy(), broken())
    with pytest.raises(ModelError, match="failed 5 times in a row"):
        await ask(model)
    assert model.calls == 5

"""Web pages and secure windows are named as such; a model that sees gets a numbered picture."""

import io

from PIL import Image

from agent.devices.protocols import Capture
from agent.loop.conversation.prompts import NO_PICTURE
from agent.loop.screen.elements import number_elements
from agent.loop.screen.screen_text import element_line
from agent.models.model import Message
from agent.records import Frame
from tests.loop.paper_phone import PaperPhone, button, node
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task


class SeenPhone(PaperPhone):
    def __init__(self, colour: str) -> None:
        super().__init__(lambda: [button("Go", 0.3)])
        self.colour = colour

    def picture(self) -> Image.Image:
        return Image.new("RGB", (1080, 2400), self.colour)

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        target = io.BytesIO()
        self.picture().save(target, "PNG")
        frame = Frame(digest="", width_px=1080, height_px=2400, captured_ms=1)
        return Capture(frame=frame, data=target.getvalue())


def test_a_web_view_is_named() -> None:
    page = node("", (0.0, 0.2, 1.0, 0.8), class_name="android.webkit.WebView", scrollable=True)
    [element] = number_elements([page], redact=str)
    assert element_line(element).startswith("[1] webview:")


async def pictures(colour: str, *, sees: bool) -> list[Message]:
    model = scripted(says("wait", seconds=0), DONE)
    model.sees = sees
    await task().run(MemoryContext(model, SeenPhone(colour)))
    return [message for message in model.requests[-1].messages if message.image is not None]


async def test_a_model_that_sees_gets_the_newest_screen_numbered_and_small() -> None:
    [message] = await pictures("white", sees=True)
    assert message.image is not None
    assert message.image_type == "image/jpeg"
    assert Image.open(io.BytesIO(message.image)).size == (706, 1568)


async def test_a_model_that_does_not_see_gets_no_picture() -> None:
    assert await pictures("white", sees=False) == []


class SecretPhone(SeenPhone):
    """A phone whose app forbids pictures: its bars and the keyboard are in them all the same."""

    def picture(self) -> Image.Image:
        picture = Image.new("RGB", (1080, 2400), "black")
        picture.paste("white", (0, 0, 1080, 60))
        picture.paste("white", (0, 1500, 1080, 2400))
        return picture


async def test_a_secure_window_is_named_once_and_its_black_picture_is_not_sent() -> None:
    for phone in (SeenPhone("black"), SecretPhone("black")):
        model = scripted(says("wait", seconds=0), DONE)
        model.sees = True
        await task().run(MemoryContext(model, phone))
        sent = model.requests[-1].messages
        assert all(message.image is None for message in sent)
        assert sum(NO_PICTURE in message.text for message in sent) == 1

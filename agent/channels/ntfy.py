"""Show messages by ntfy, and take answers from a topic beside.

After docs.ntfy.sh: publishing as JSON with action buttons (`/publish/`), and the JSON stream of a
topic (`/subscribe/api/`). Who knows a topic may read and write it, so its name is a secret of one
person. Buttons post to the topic `TOPIC-answers`, of which the core is the only reader.
"""

import re
import time
from urllib.parse import quote

import msgspec

from agent.channels.channel import Message, Reply, Take
from agent.channels.http_client import HttpClient, checked_address
from agent.channels.urgency import Urgency
from agent.errors import ConfigError, WebError

PUBLIC_URL = "https://ntfy.sh"
MOST_BUTTONS = 3
SILENCE_S = 120.0
"""The server sends a keepalive every 45 s by default."""
_PRIORITY = {Urgency.URGENT: 5, Urgency.NORMAL: 3, Urgency.LOW: 2}
_TOPIC = re.compile(r"[-_A-Za-z0-9]{16,56}")


class NtfyChannel:
    """One person's topic.

    Args:
        name: of the channel in the settings.
        operator: whose topic it is.
        url: the server; empty: the public one.
        topic: its name.
        access_token: for the server; empty: it asks for none.
    """

    kind = "ntfy"
    takes_answers = True
    most_bytes = 3_900
    """A message of more than 4,096 becomes an attachment."""

    def __init__(
        self, name: str, operator: str, *, url: str, topic: str, access_token: str = ""
    ) -> None:
        self.name = name
        self.operator = operator
        self._url = checked_address(url or PUBLIC_URL, f"notices.channels.{name}.url")
        if not _TOPIC.fullmatch(topic):
            raise ConfigError(
                f"The topic of notices.channels.{name} can be guessed or is not one.",
                "Use 16 to 56 letters, digits, - and _, as: openssl rand -hex 16",
            )
        self._topic = topic
        self._answers = f"{self._url}/{topic}-answers"
        self._headers = {"Authorization": f"Bearer {access_token}"} if access_token else {}
        self._http = HttpClient()
        self._since = ""
        """The newest answer that was read, or when listening began."""

    async def send(self, message: Message) -> None:
        await self._publish(
            {
                "topic": self._topic,
                "title": message.title,
                "message": message.text or message.title,
                "priority": _PRIORITY[message.urgency],
                "tags": ["bell"] if message.buttons else [],
                "actions": [
                    {
                        "action": "http",
                        "label": button.label,
                        "url": self._answers,
                        "method": "POST",
                        "body": button.token,
                        "clear": True,
                    }
                    for button in message.buttons[:MOST_BUTTONS]
                ],
            }
        )

    async def send_picture(self, message: Message, png: bytes) -> None:
        url = f"{self._url}/{self._topic}?filename=screen.png&priority=2&title="
        answer = await self._http.send(
            "PUT", url + quote(message.title), headers=self._headers, content=png
        )
        _check(answer.status)

    async def withdraw(self, message: Message, why: str, *, is_own: bool) -> None:
        if not is_own:
            await self._tell(f"{message.title}: {why}")

    async def listen(self, take: Take) -> None:
        self._since = self._since or str(int(time.time()))
        while True:
            url = f"{self._answers}/json?since={self._since}"
            async for line in self._http.lines(url, headers=self._headers, silence_s=SILENCE_S):
                found = _message_of(line)
                if found is None:
                    continue
                self._since = found.id
                await self._tell((await take(_reply_of(found.message))).text)

    async def close(self) -> None:
        await self._http.close()

    async def _tell(self, text: str) -> None:
        await self._publish({"topic": self._topic, "message": text, "priority": 2})

    async def _publish(self, body: dict[str, object]) -> None:
        content = msgspec.json.encode(body)
        headers = {**self._headers, "Content-Type": "application/json"}
        answer = await self._http.send("POST", f"{self._url}/", headers=headers, content=content)
        _check(answer.status)


class _NtfyMessage(msgspec.Struct, frozen=True):
    id: str
    event: str
    message: str = ""


def _message_of(line: bytes) -> _NtfyMessage | None:
    """Return the message of a line; None for a keepalive and all else that is none."""
    try:
        found = msgspec.json.decode(line, type=_NtfyMessage)
    except msgspec.MsgspecError:
        return None
    is_usable = found.event == "message" and re.fullmatch(r"[A-Za-z0-9]{1,40}", found.id)
    return found if is_usable else None


def _reply_of(text: str) -> Reply:
    """Read a button's token, or words; a token is one word of its own length."""
    said = text.strip()
    is_token = re.fullmatch(r"[-_A-Za-z0-9]{24}", said) is not None
    return Reply(token=said) if is_token else Reply(words=said)


def _check(status: int) -> None:
    if status in (401, 403):
        raise WebError("The ntfy server refused the message.", "Check secret_file and token_file.")
    if status != 200:
        raise WebError(f"The ntfy server answered with status {status}.")

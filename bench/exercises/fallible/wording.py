"""Write a call as models write it in text, or cut it off; pure, by seeded chance."""

import json
from collections.abc import Mapping
from random import Random

from tests.openai_server import Reply, Tool

_DIALECTS = (
    '<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>',
    "<function={name}>{arguments}</function>",
    '<|python_tag|>{{"name": "{name}", "parameters": {arguments}}}',
    '[TOOL_CALLS][{{"name": "{name}", "arguments": {arguments}}}]',
    "<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>",
    'I go on.\n```json\n{{"name": "{name}", "arguments": {arguments}}}\n```',
    "Thought: This is next.\nAction: {name}\nAction Input: {arguments}",
    "{name}({named})",
)
LIMIT = 8192  # What a request has room for at first; with more, nothing is cut off.


def in_words(name: str, arguments: Mapping[str, object], chance: Random) -> Reply:
    said = json.dumps(arguments, ensure_ascii=False)
    named = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    form = chance.choice(_DIALECTS)
    return Reply(text=form.format(name=name, arguments=said, named=named))


def cut_off(name: str, arguments: Mapping[str, object], room: int, chance: Random) -> Reply:
    """Cut a call off in its middle, one time in four, unless there is more room than usual."""
    whole = json.dumps(arguments, ensure_ascii=False)
    if room > LIMIT or chance.random() >= 1 / 4:
        return Reply(tools=(Tool(name, whole),))
    return Reply(tools=(Tool(name, whole[: len(whole) // 2]),), finish="length")

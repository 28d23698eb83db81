"""Count tokens as OpenAI's models since GPT-4o do: the encoding o200k_base, offline.

The vocabulary is inside the wheel of `bpe-openai`, so nothing is downloaded. What an endpoint adds
around messages and tools (a few tokens each) is not counted.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_openai import Encoding


def count_tokens(text: str) -> int:
    """Return how many tokens a text is; the names of special tokens are text."""
    return len(_encoding().encode_ordinary(text))


@cache
def _encoding() -> "Encoding":
    # It reads three vocabularies as it is imported: a second that only who counts shall wait.
    import bpe_openai

    return bpe_openai.get_encoding("o200k_base")

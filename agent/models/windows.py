"""The context windows of models, in tokens: what is known by name, and what endpoints have said.

Not the limits of answers. Invariant: the operator's word (`model.context_window`) comes first, then
what the endpoint itself said in this process, then the table, then a careful guess.
"""

from agent.models.catalog import facts_of
from agent.records import DIRECT

UNKNOWN_WINDOW = 65_536
"""For a model that nothing is known of; a server with less says so, and then it is known."""
_NO_LANGUAGE = frozenset({"pilot", "one call"})
"""Models of our own, which read a conversation of any length."""
_WINDOWS = {
    "gpt-oss": 131_072,
    "claude": 200_000,
    "deepseek": 128_000,
    "qwen": 131_072,
    "qwen3": 131_072,
    "glm-4": 128_000,
    "kimi": 131_072,
    "mistral": 131_072,
    "llama3.1": 131_072,
}
"""Of families of models that many endpoints offer, by the beginning of a name."""
_MAX_LEARNT = 1000
_learnt: dict[str, int] = {}


def context_window(name: str, chosen: int = 0) -> int:
    """Return how many tokens a model's conversation and answer may have together; 0: any number.

    Args:
        name: the model, as its endpoint calls it; a folder in front of the name is passed over.
        chosen: `model.context_window`; 0: not chosen.
    """
    if name in _NO_LANGUAGE or name.startswith(DIRECT):
        return 0
    if chosen:
        return chosen
    if name in _learnt:
        return _learnt[name]
    known_window = facts_of(name).window
    if known_window:
        return known_window
    plain = name.rpartition("/")[2].casefold()
    known = [start for start in _WINDOWS if plain.startswith(start)]
    return _WINDOWS[max(known, key=len)] if known else UNKNOWN_WINDOW


def learn_window(name: str, tokens: int) -> None:
    """Keep what an endpoint said of a model's window, for as long as the process lives."""
    if tokens > 0 and (name in _learnt or len(_learnt) < _MAX_LEARNT):
        _learnt[name] = tokens

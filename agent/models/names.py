"""Names of models that their providers have withdrawn, and what took their place.

Not a list of all models. Invariant: a name that is not here is used as it is written.
"""

from __future__ import annotations

_SUCCESSORS = {
    "gpt-4-vision-preview": "gpt-4o",
    "gpt-4-1106-vision-preview": "gpt-4o",
    "gpt-4-turbo-preview": "gpt-4.1",
    "gpt-4-1106-preview": "gpt-4.1",
    "gpt-4-0125-preview": "gpt-4.1",
    "gpt-4-32k": "gpt-4.1",
    "gpt-4-0314": "gpt-4.1",
    "gpt-4.5-preview": "gpt-4.1",
    "gpt-3.5-turbo-0301": "gpt-4.1-mini",
    "gpt-3.5-turbo-0613": "gpt-4.1-mini",
    "gpt-3.5-turbo-16k": "gpt-4.1-mini",
    "gpt-3.5-turbo-16k-0613": "gpt-4.1-mini",
    "text-davinci-003": "gpt-4.1-mini",
    "o1-preview": "o3",
    "o1-mini": "o4-mini",
    "codex-mini-latest": "gpt-5-codex",
    "claude-2.0": "claude-sonnet-4-5",
    "claude-2.1": "claude-sonnet-4-5",
    "claude-instant-1.2": "claude-haiku-4-5",
    "claude-3-sonnet-20240229": "claude-sonnet-4-5",
    "claude-3-5-sonnet-20240620": "claude-sonnet-4-5",
    "claude-3-5-sonnet-20241022": "claude-sonnet-4-5",
    "claude-3-5-sonnet-latest": "claude-sonnet-4-5",
    "claude-3-opus-20240229": "claude-opus-4-1",
}


def current_name(name: str) -> tuple[str, str]:
    """Give the name to ask for, and a notice for the operator when it is another one."""
    successor = _SUCCESSORS.get(name)
    if successor is None:
        return name, ""
    return successor, (
        f"The model {name} has been withdrawn by its provider; {successor} is asked instead. "
        "Set model.name to choose another."
    )

"""Ask a server of this machine or its network what its list of models does not say.

Whose server it is, the list itself tells (`owned_by`), or the operator's name for it. Each kind has
one more page: llama.cpp `GET /props` (tools/server/README.md), Ollama `POST /api/show`
(docs/api.md), LM Studio `GET /api/v0/models` (docs, REST API v0). Invariant: what is not said is
unknown.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from agent.models.wires.foreign import count_of, listed
from agent.models.wires.offers import Offer, object_at, offer_said_in

_OWNERS = {"llamacpp": "llamacpp", "library": "ollama", "organization_owner": "lmstudio"}
"""How servers name the owner of their models, and which kind of server that is."""


class Page(NamedTuple):
    """One page of a server that says more of a model."""

    path: str
    """From the root of the server."""
    name: str
    """What it is called, for people."""
    body: dict[str, str] | None = None
    """What is posted to it; None: it is only read."""


def page_of(rows: list[dict[str, Any]], preset: str, model: str) -> tuple[str, Page] | None:
    """Return the kind of a server and the page to ask it for; None for a kind without one.

    Args:
        rows: of its list of models.
        preset: the operator's name for the server; empty where the address does not tell it.
        model: as the server calls it.
    """
    owners = (_OWNERS.get(str(row.get("owned_by"))) for row in rows)
    match next(filter(None, owners), preset):
        case "llamacpp" as kind:
            # A server of several models has one page for each.
            return kind, Page(f"/props?model={quote(model, safe='')}", "/props")
        case "ollama" as kind:
            return kind, Page("/api/show", "/api/show", {"model": model})
        case "lmstudio" as kind:
            return kind, Page("/api/v0/models", "/api/v0/models")
        case _:
            return None


def facts_in(kind: str, page: Page, said: object, model: str) -> Offer:
    """Return what a page says of a model; nothing where it is no such page.

    Args:
        said: the JSON of the page.
    """
    if not isinstance(said, dict):
        return Offer()
    match kind:
        case "llamacpp":
            return _llamacpp(page, said)
        case "ollama":
            return _ollama(page, said)
        case _:
            rows = (row for row in listed(said.get("data")) if isinstance(row, dict))
            row = next((row for row in rows if row.get("id") == model), {})
            return _lmstudio(page, row)


def _llamacpp(page: Page, said: Mapping[str, Any]) -> Offer:
    caps = object_at(said, "chat_template_caps")
    tools = _yes_or_no(caps.get("supports_tools"))
    if tools and caps.get("supports_tool_calls") is False:
        tools = False
    parallel = _yes_or_no(caps.get("supports_parallel_tool_calls"))
    return offer_said_in(
        page.name,
        window=count_of(object_at(said, "default_generation_settings").get("n_ctx")),
        pictures=_yes_or_no(object_at(said, "modalities").get("vision")),
        tools=tools,
        # Without a template for tools it ignores `tool_choice`, and says nothing of it.
        required=False if tools is False else None,
        parallel=parallel if tools else tools,
        # Every one of its builds makes grammars of schemas; what has a template is a server of it.
        schema=True if "chat_template" in said else None,
    )


def _ollama(page: Page, said: Mapping[str, Any]) -> Offer:
    names = said.get("capabilities")
    if not isinstance(names, list) or not names:
        # Versions before May 2025 do not say it.
        return Offer()
    # A schema it has known since `response_format` (docs/api/openai-compatibility).
    return offer_said_in(page.name, pictures="vision" in names, tools="tools" in names, schema=True)


def _lmstudio(page: Page, row: Mapping[str, Any]) -> Offer:
    if not row:
        return Offer()
    names = row.get("capabilities")
    kind = row.get("type")
    return offer_said_in(
        page.name,
        window=count_of(row.get("loaded_context_length")),
        pictures=kind == "vlm" if isinstance(kind, str) else None,
        # Without it, tools are put into the prompt; whether the model then calls them is open.
        tools=True if "tool_use" in listed(names) else None,
        schema=True,
    )


def _yes_or_no(value: object) -> bool | None:
    return value if isinstance(value, bool) else None

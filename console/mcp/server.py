"""The MCP server: which tools there are, and what a call of one answers.

The protocol is the SDK's (`mcp`). Invariants: whatever a client sends gets an answer that says what
to do; nothing of a phone reaches the client that a model of our own would not be shown.
"""

import base64
import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from agent.errors import SwitchboardError
from agent.knowledge.library import Library
from agent.records import Question, QuestionKind, Speaker
from agent.text import one_line
from agent.tools.arguments import BadArguments, decode
from console.mcp.clients import Clients, Context
from console.mcp.phone_tools import (
    LOOK,
    RELEASE,
    TAKE,
    Look,
    act,
    acting_schemas,
    answer_once,
    hints_of,
    look,
    title_of,
)
from console.mcp.prompts import PROMPTS, filled
from console.mcp.resources import TEMPLATES, entries, read
from console.mcp.session_tools import SESSION_TOOLS
from console.mcp.tool import Answer, Connection, Hints, McpTool, NeedsAnswer
from console.mcp.updates import Subscriber, Updates

_log = logging.getLogger(__name__)
INSTRUCTIONS = (
    "Android phones that an operator watches. To act yourself: take_phone, then a tool at a time; "
    "each answers with the screen, whose elements have numbers; release_phone at the end. To have "
    "Switchboard's own agent do it: start_session, then watch_session. What cannot be undone is "
    "approved by a person at their console, never by a program: wait, and accept a refusal."
)


def tool_table(*, phones: bool, sessions: bool) -> dict[str, McpTool[Any]]:
    """Return the tools with handlers of their own, by name."""
    chosen: list[McpTool[Any]] = []
    if phones:
        chosen += [TAKE, LOOK, RELEASE]
    if sessions:
        chosen += SESSION_TOOLS
    elif phones:
        chosen += [one for one in SESSION_TOOLS if one.name == "list_phones"]
    return {one.name: one for one in chosen}


class PhoneServer:
    """Serve clients.

    Args:
        clients: who calls.
        library: the app cards.
        version: of Switchboard.
        phones: whether it gets the tools that act on a phone.
        sessions: whether it gets the tools for sessions.
        sees: whether pictures are drawn for it.
    """

    def __init__(
        self,
        clients: Clients,
        library: Library,
        *,
        version: str,
        phones: bool = True,
        sessions: bool = True,
        sees: bool = True,
    ) -> None:
        self._clients = clients
        self._library = library
        self._updates: dict[int, Updates] = {}
        """By connection, so that nobody is told of what they may not see."""
        self._subscribers: dict[int, Subscriber] = {}
        self._table = tool_table(phones=phones, sessions=sessions)
        self._acting = acting_schemas(sees=sees) if phones else {}
        self.server: Server[dict[str, Any]] = Server(
            "switchboard",
            version=version,
            title="Switchboard",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _server: Server[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        finally:
            for subscriber in self._subscribers.values():
                subscriber.close()
            for updates in self._updates.values():
                updates.close()

    async def _list(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self.tools())

    def tools(self) -> list[types.Tool]:
        """Return the tools as a client is told of them."""
        own = [
            _tool(one.name, one.title, one.description, one.schema, one.hints)
            for one in self._table.values()
        ]
        acting = [
            _tool(name, title_of(name), *told, hints_of(name))
            for name, told in self._acting.items()
        ]
        return [*own, *acting]

    # --- resources and prompts ----------

    async def _list_resources(
        self, context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        with _as_protocol_errors():
            # By the client's own connection: another operator may see others.
            async with self._clients.of(context) as connection:
                found = await entries(connection.core, self._library)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=one.uri,
                    name=one.name,
                    description=one.description,
                    mime_type=one.media_type,
                )
                for one in found
            ]
        )

    async def _list_templates(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=one.uri,
                    name=one.name,
                    description=one.description,
                    mime_type=one.media_type,
                )
                for one in TEMPLATES
            ]
        )

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        with _as_protocol_errors():
            async with self._clients.of(context) as connection:
                found = await read(connection.core, self._library, uri)
        content: types.TextResourceContents | types.BlobResourceContents
        if found.data is None:
            content = types.TextResourceContents(
                uri=uri, mime_type=found.media_type, text=found.text
            )
        else:
            blob = base64.b64encode(found.data).decode()
            content = types.BlobResourceContents(uri=uri, mime_type=found.media_type, blob=blob)
        return types.ReadResourceResult(contents=[content])

    async def _subscribe(
        self, context: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        with _as_protocol_errors():
            async with self._clients.of(context) as connection:
                subscriber = self._subscribers.get(id(connection))
                if subscriber is None:
                    subscriber = Subscriber(
                        self._updates_of(connection), context.session.send_resource_updated
                    )
                    self._subscribers[id(connection)] = subscriber
                    connection.at_end.callback(self._forget_subscriber, id(connection))
                subscriber.add(str(params.uri))
        return types.EmptyResult()

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        with _as_protocol_errors():
            # Who listens is there for as long as they do.
            async with self._clients.of(context) as connection:
                return await self._updates_of(connection).listen(context, params)

    def _updates_of(self, connection: Connection) -> Updates:
        updates = self._updates.get(id(connection))
        if updates is None:
            updates = self._updates[id(connection)] = Updates(connection.core)
            connection.at_end.callback(self._forget_updates, id(connection))
        return updates

    def _forget_subscriber(self, connection: int) -> None:
        self._subscribers.pop(connection).close()

    def _forget_updates(self, connection: int) -> None:
        self._updates.pop(connection).close()

    async def _unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        with _as_protocol_errors():
            async with self._clients.of(context) as connection:
                subscriber = self._subscribers.get(id(connection))
                if subscriber is not None:
                    subscriber.remove(str(params.uri))
        return types.EmptyResult()

    async def _list_prompts(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=one.name,
                    description=one.description,
                    arguments=[
                        types.PromptArgument(
                            name=asked.name, description=asked.description, required=asked.required
                        )
                        for asked in one.asked
                    ],
                )
                for one in PROMPTS.values()
            ]
        )

    async def _get_prompt(
        self, _context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        with _as_protocol_errors():
            text = filled(params.name, params.arguments or {})
        said = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=said)])

    # --- calls ----------

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        asker = ElicitingAsker(context)
        try:
            async with self._clients.of(context) as connection:
                if params.request_state:
                    answer = await self._go_on(connection, params, asker)
                else:
                    answer = await self._answer(
                        connection, params.name, params.arguments or {}, asker
                    )
        except NeedsAnswer as needed:
            return _input_required(needed.question)
        except SwitchboardError as error:
            answer = Answer(text=f"{error.message} {error.remedy}".strip(), failed=True)
        except BadArguments as error:
            text = f"{params.name}: {error}. Correct the arguments and call again."
            answer = Answer(text=text, failed=True)
        return _result(answer)

    async def _answer(
        self, connection: Connection, name: str, given: Mapping[str, Any], asker: "ElicitingAsker"
    ) -> Answer:
        if name in self._acting:
            return await act(connection, asker, name, given)
        tool = self._table.get(name)
        if tool is None:
            known = ", ".join([*self._table, *self._acting])
            return Answer(
                text=f"There is no tool {one_line(name, 60)}. There are: {known}.", failed=True
            )
        arguments = decode(tool.arguments, json.dumps(given))
        return await tool.work(connection, asker, arguments)

    async def _go_on(
        self, connection: Connection, params: types.CallToolRequestParams, asker: "ElicitingAsker"
    ) -> Answer:
        """Take the answers of the person at the client; the call itself is under way already."""
        open_now = {one.question_id: one for one in (await connection.core.overview()).questions}
        for question_id, said in (params.input_responses or {}).items():
            question = open_now.get(question_id)
            if question is None or question_id not in connection.asked:
                continue
            if isinstance(said, types.ElicitResult) and asker.may_ask(question):
                answer = _answer_in(said)
                if answer is not None:
                    await answer_once(connection, question, answer, asker.speaker)
        session_id = params.request_state or ""
        if params.name in self._acting or params.name in {TAKE.name, LOOK.name, RELEASE.name}:
            return await look(connection, asker, Look(session=session_id))
        tool = self._table.get(params.name)
        if tool is not None and tool.go_on is not None:
            return await tool.go_on(connection, asker, session_id)
        return await self._answer(connection, params.name, params.arguments or {}, asker)


class ElicitingAsker:
    """Ask the person at the client by elicitation, and report progress, within one call.

    Args:
        context: of the call.
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    async def progress(self, done: float, message: str) -> None:
        """Report the progress of a long call; does nothing where the client did not ask for it."""
        await self._context.session.report_progress(done, None, one_line(message, 300))

    async def ask(self, question: Question) -> str | None:
        """Return the answer of the person at the client; see `Asker.ask`."""
        session = self._context.session
        capabilities = session.client_capabilities
        if capabilities is None or capabilities.elicitation is None or not self.may_ask(question):
            return None
        if not session.can_send_request:
            raise NeedsAnswer(question)
        form = _form(question)
        try:
            said = await session.elicit_form(
                form.message, form.requested_schema, self._context.request_id
            )
        except MCPError as error:
            _log.info("The client could not ask: %s", error)
            return None
        return _answer_in(said)

    @property
    def speaker(self) -> Speaker:
        """Whose words an answer is; see `Asker.speaker`: a program may have given it by itself."""
        return Speaker.MODEL

    def may_ask(self, question: Question) -> bool:
        """Return whether a question is for the person at the client, too.

        A secret never is, since the client would read it, and an approval never: it could give it.
        """
        return not question.secret and question.kind is not QuestionKind.APPROVAL


@contextmanager
def _as_protocol_errors() -> Iterator[None]:
    """Return a refusal as the protocol's error, with what to do about it."""
    try:
        yield
    except SwitchboardError as error:
        text = f"{error.message} {error.remedy}".strip()
        raise MCPError(types.INVALID_PARAMS, text) from error


def _form(question: Question) -> types.ElicitRequestFormParams:
    answer: dict[str, Any] = {"type": "string", "title": "Answer"}
    if question.options:
        answer["enum"] = [one.label for one in question.options]
    schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
    return types.ElicitRequestFormParams(message=question.shown, requested_schema=schema)


def _answer_in(said: types.ElicitResult) -> str | None:
    """Return what the person at the client answers; None: it is left to the operator."""
    if said.action != "accept" or said.content is None:
        return None
    return str(said.content.get("answer") or "") or None


def _input_required(question: Question) -> types.InputRequiredResult:
    request = types.ElicitRequest(params=_form(question))
    return types.InputRequiredResult(
        input_requests={question.question_id: request}, request_state=question.session_id
    )


def _tool(
    name: str, title: str, description: str, schema: dict[str, Any], hints: Hints
) -> types.Tool:
    return types.Tool(
        name=name,
        title=title,
        description=description,
        input_schema=schema,
        annotations=types.ToolAnnotations(
            title=title,
            read_only_hint=hints.reads_only,
            destructive_hint=hints.destroys,
            idempotent_hint=hints.is_idempotent,
            open_world_hint=hints.is_open,
        ),
    )


def _result(answer: Answer) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=answer.text)]
    if answer.picture is not None:
        data = base64.b64encode(answer.picture).decode()
        content.append(types.ImageContent(type="image", data=data, mime_type=answer.picture_type))
    return types.CallToolResult(content=content, is_error=answer.failed)

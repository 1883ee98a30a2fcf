"""The server's side of MCP: tools, resources and prompts, in every version of the protocol that the package speaks."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from runtime.install.release import release
from server.mcp import prompts, resources
from server.mcp.call import Call, Report, Suspended
from server.mcp.consent.baselines import Baselines
from server.mcp.consent.questions import KEY, approved, asks, request_of
from server.mcp.consent.waiting import Waiting, WaitingCalls
from server.mcp.perform import TOOLS, perform, tools_of
from server.mcp.resources import TEMPLATES, UnknownResource
from server.mcp.subscriptions import Subscriptions
from server.mcp.tools.tool import Group, Tool
from server.mcp.visitor import Visitor
from server.store.flows import FlowNotStored

Context: TypeAlias = ServerRequestContext[Any, Any]

VisitorOf: TypeAlias = Callable[[Context], Visitor]
"""Says who sends a request."""

_NOT_FOUND: Final = -32002
"""The code of a resource that there is not, in the versions with sessions."""

_SAID_NO: Final = "Nothing was done: the user said no. Do not try it again."


class _Server(Server[Any]):
    """Announces at the beginning of a session that clients are notified of changes."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """What a session begins with."""
        told = notification_options or NotificationOptions(resources_changed=True)
        return super().create_initialization_options(told, experimental_capabilities, extensions)


class McpServer:
    """One of the two servers, or both in one.

    Args:
        group: which of them; None for both.
        visitor_of: says who sends a request.
        subscriptions: tells clients of changes.
        baselines: what the user's flows held before clients worked on them.
        waiting: the calls that wait for an answer.

    Attributes:
        server: what transports drive.
    """

    def __init__(
        self,
        group: Group | None,
        visitor_of: VisitorOf,
        subscriptions: Subscriptions,
        baselines: Baselines,
        waiting: WaitingCalls,
    ) -> None:
        self._group: Group | None = group
        self._visitor_of = visitor_of
        self._subscriptions = subscriptions
        self._baselines = baselines
        self._waiting = waiting
        self._described: dict[frozenset[str], list[types.Tool]] = {}
        self.server = _Server(
            "wirewright" if group is None else f"wirewright-{group}",
            version=release(),
            title="Wirewright",
            instructions=prompts.INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            get_tool_input_schema=lambda name: TOOLS[name].takes if name in TOOLS else None,
        )

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        del params
        scopes = frozenset[str](self._visitor_of(context).caller.user.scopes)
        if scopes not in self._described:
            self._described[scopes] = [_described(tool) for tool in tools_of(self._group) if tool.scope in scopes]
        return types.ListToolsResult(tools=self._described[scopes])

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        visitor, name, arguments = self._visitor_of(context), params.name, params.arguments or {}
        if name not in {tool.name for tool in tools_of(self._group)}:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name[:100]}")
        user, waiting, agreed = visitor.caller.id, None, None
        if params.request_state is not None:
            waiting = await self._waiting.take(params.request_state, user, name, arguments)
            if waiting is None:
                raise MCPError(types.INVALID_PARAMS, "No such question waits for this call. Call the tool anew.")
            reply = (params.input_responses or {}).get(KEY)
            agreed = approved(reply, waiting.question, changeable=waiting.changeable)
            if agreed is None:
                return _failed(_SAID_NO + (f" {len(waiting.done)} action(s) stay done." if waiting.done else ""))
        elif params.input_responses:
            raise MCPError(types.INVALID_PARAMS, "Nothing was asked that this could answer.")
        call = Call(
            caller=visitor.caller,
            client=visitor.client(_client_name(context)),
            baselines=self._baselines,
            mandate=visitor.mandate,
            ask=asks(context),
            report=_reports(context),
            given=() if waiting is None or agreed is None else (*waiting.given, agreed),
            done=() if waiting is None else waiting.steps,
        )
        try:
            outcome = await perform(name, call, arguments)
        except Suspended as suspended:
            question, changeable = suspended.question, suspended.changeable
            kept = Waiting(question=question, given=suspended.given, changeable=changeable, done=suspended.done)
            state = await self._waiting.add(user, name, arguments, kept)
            asked = {KEY: request_of(question, changeable=changeable)}
            return types.InputRequiredResult(input_requests={**asked}, request_state=state)
        if outcome.data is None:
            return _failed(outcome.text)
        return types.CallToolResult(content=[types.TextContent(text=outcome.text)], structured_content=outcome.data)

    async def _list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        visitor = self._visitor_of(context)
        if visitor.session:
            await self._subscriptions.follow(visitor.caller.id, visitor.client(""), context.session)
        try:
            found, cursor = await resources.listed(visitor.caller, None if params is None else params.cursor)
        except UnknownResource as unknown:
            raise MCPError(types.INVALID_PARAMS, unknown.message) from None
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=one.uri,
                    name=one.name or one.uri,
                    description=one.description or None,
                    mime_type=one.mime_type,
                    size=one.size,
                )
                for one in found
            ],
            next_cursor=cursor,
        )

    async def _list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        del context, params
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(uri_template=uri, name=name, description=text, mime_type=kind)
                for uri, (name, text, kind) in TEMPLATES.items()
            ]
        )

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            found = await resources.read(self._visitor_of(context).caller, params.uri)
        except UnknownResource as unknown:
            modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if modern else _NOT_FOUND
            raise MCPError(code, unknown.message, {"uri": params.uri[:2_000]}) from None
        if found.body is not None:
            blob = base64.b64encode(found.body).decode()
            held = types.BlobResourceContents(uri=params.uri, mime_type=found.mime_type, blob=blob)
            return types.ReadResourceResult(contents=[held])
        text = types.TextResourceContents(uri=params.uri, mime_type=found.mime_type, text=found.text)
        return types.ReadResourceResult(contents=[text])

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        visitor = self._visitor_of(context)
        await self._subscriptions.subscribe(visitor.caller.id, visitor.client(""), context.session, params.uri)
        return types.EmptyResult()

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        visitor = self._visitor_of(context)
        self._subscriptions.unsubscribe(visitor.client(""), params.uri)
        return types.EmptyResult()

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        return await self._subscriptions.listen(self._visitor_of(context).caller.id, context, params)

    async def _list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        del context, params
        arguments = [
            types.PromptArgument(name="request", description="What the flow should do.", required=True),
            types.PromptArgument(name="flow_id", description="A stored flow to change, instead of a new one."),
        ]
        return types.ListPromptsResult(
            prompts=[types.Prompt(name=prompts.NAME, description=prompts.DESCRIPTION, arguments=arguments)]
        )

    async def _get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        given: Mapping[str, str] = params.arguments or {}
        if params.name != prompts.NAME:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:100]}")
        if not given.get("request", "").strip():
            raise MCPError(types.INVALID_PARAMS, "The argument `request` is missing: what the flow should do.")
        caller = self._visitor_of(context).caller
        try:
            text = await prompts.build_prompt(caller, given["request"], given.get("flow_id") or None)
        except FlowNotStored as missing:
            raise MCPError(types.INVALID_PARAMS, f"There is no flow {missing.flow_id[:80]!r}.") from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompts.DESCRIPTION, messages=[message])


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.takes,
        output_schema=tool.gives_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.touch == "reads",
            destructive_hint=tool.touch == "changes",
            idempotent_hint=tool.touch == "reads",
            open_world_hint=tool.outbound,
        ),
    )


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _reports(context: Context) -> Report:
    count = 0

    async def report(message: str) -> None:
        nonlocal count
        count += 1
        await context.session.report_progress(count, message=message)

    return report


def _client_name(context: Context) -> str:
    """What a client calls itself."""
    told = context.session.client_params
    return "" if told is None else told.client_info.name

"""Tools and designs over the Model Context Protocol: on stdin and stdout, or as HTTP on 127.0.0.1.

Must hold: an error is a sentence in the tool's answer, never a traceback; no value of an item is in a log line. HTTP
takes requests for this machine's own names only, from programs and not from pages of other origins, and bodies of up to
1 MiB.
Elsewhere: what the tools do (tools.py and beside it). The only module that imports the extra `mcp`.
"""

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from tablewright import __version__
from tablewright.cli.files import error_text
from tablewright.cli.mcp.design_tools import checked_design, described_design, priced_design, scaled_design
from tablewright.cli.mcp.served_designs import ServedDesign
from tablewright.cli.mcp.tools import Answer, Tool, ToolRefused, read_arguments, schema_of
from tablewright.cli.output import UsageError, print_message
from tablewright.client import CallFailed
from tablewright.design import DesignMistake
from tablewright.edge.csrf import SameOrigin
from tablewright.edge.request_bodies import BodyLimit
from tablewright.edge.security import Hosts, PageHeaders
from tablewright.mapping import MappingMistake

HOST = "127.0.0.1"
INSTRUCTIONS = (
    "Designs of DynamoDB tables and their access patterns. list_designs and describe_design say what there is; a tool "
    "named DESIGN_PATTERN reads a page of items. `next` of an answer is the page_token of the next call, with the same "
    "arguments."
)
# A sentence repeats names that a caller made up; of a long one the beginning says enough.
_MOST_CHARACTERS = 2_000
_REFUSALS = (ToolRefused, MappingMistake, DesignMistake, CallFailed, UsageError)
# A resource is a design, or what is computed of it.
_READINGS: Mapping[str, tuple[str, Callable[[ServedDesign], Answer]]] = {
    "": ("Tables, entities and access patterns", described_design),
    "/findings": ("What the rules find", checked_design),
    "/cost": ("What it costs a month", priced_design),
    "/scale": ("At multiples of its load", scaled_design),
}
Context = Any


def server_of(tools: Sequence[Tool], designs: Mapping[str, ServedDesign]) -> Server[Any]:
    """A server with these tools, and the designs as resources."""
    named = {tool.name: tool for tool in tools}
    listed = [_listed_tool(tool) for tool in tools]
    resources = {
        f"tablewright://designs/{name}{part}": (f"{name}: {about}", partial(reading, design))
        for name, design in designs.items()
        for part, (about, reading) in _READINGS.items()
    }

    async def list_tools(_: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await anyio.to_thread.run_sync(_called, named, params.name, params.arguments or {})

    async def list_resources(
        _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=uri.removeprefix("tablewright://designs/"), title=title,
                               mime_type="text/markdown")
                for uri, (title, _) in resources.items()
            ]
        )  # fmt: skip

    async def read_resource(_: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri not in resources:
            known = ", ".join(designs)
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {_cut(uri)}; the designs are {known}")
        try:
            answer = await anyio.to_thread.run_sync(resources[uri][1])
        except _REFUSALS as refusal:  # its file is not a design now
            raise MCPError(types.INVALID_PARAMS, _cut(error_text(refusal))) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/markdown", text=str(answer))]
        )

    return Server(
        "tablewright",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def _listed_tool(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.effect == "none",
        destructive_hint=tool.effect == "destroys",
        idempotent_hint=tool.effect == "none",
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=schema_of(tool.arguments),
        annotations=hints,
    )


def _called(named: Mapping[str, Tool], name: str, given: Mapping[str, Any]) -> types.CallToolResult:
    tool = named.get(name)
    try:
        if tool is None:
            raise ToolRefused(f"There is no tool {name} here; list_designs names what there is.")
        answer = tool.run(read_arguments(tool.arguments, given))
    except _REFUSALS as refusal:
        return _refused(error_text(refusal))
    except Exception as fault:
        # The message of an unknown error may have a value in it: only its kind and its place are told.
        last = traceback.extract_tb(fault.__traceback__)[-1]
        print_message(f"tablewright: {name} failed: {type(fault).__name__} at {last.filename}:{last.lineno}")
        return _refused(f"{name} failed: {type(fault).__name__}. The server's log has the place.")
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=str(answer))], structured_content=answer.value
    )


def _refused(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=_cut(sentence))], is_error=True)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


# --- transports ---


def serve_stdio(server: Server[Any]) -> None:
    """Until the client closes stdin."""

    async def main() -> None:
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    anyio.run(main)
    sys.stdout.flush()


def http_app(server: Server[Any]) -> Starlette:
    """The server at /mcp, for requests to this machine's own names. No session outlives its request.

    Only POST: the stream that a GET opens would stay open and never have a message, as there are no sessions. The
    checks are those of our other servers: the SDK compares the beginning of a name only, so that
    `localhost:1.other.example` passes.
    """
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    app = Starlette(
        routes=[Route("/mcp", manager.asgi_app, methods=["POST"])],
        middleware=[
            Middleware(PageHeaders),
            Middleware(Hosts),
            Middleware(SameOrigin),
            Middleware(BodyLimit),
        ],
        lifespan=lambda _: manager.run(),
    )
    app.router.redirect_slashes = False
    return app

"""A server that speaks OpenAI's chat completions as the real ones do, and fails as they do: for tests.

It streams server-sent events over chunked HTTP, cut anywhere, also within a character. `script` says what each
request meets, in order; the last entry is for all further ones. `requests` are the bodies that came, `bytes_received`
everything as it came.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """How the server answers one request."""

    text: str = "Hello from the model."
    status: int = 200
    retry_after: str | None = None
    # Bytes in a chunk of the transfer.
    chunk: int = 7
    finish: str | None = "stop"
    # Breaks the connection after so many bytes of the stream.
    cut_after: int | None = None
    hang: bool = False
    # Seconds between two chunks.
    drip: float = 0.0
    error_event: bool = False
    garbage: bool = False
    done: bool = True
    endless: bool = False


@dataclass
class ModelServer:
    url: str
    script: list[Reply]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    bytes_received: bytearray = field(default_factory=bytearray)
    stopped: threading.Event = field(default_factory=threading.Event)

    def next_reply(self) -> Reply:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def _events(reply: Reply) -> Iterator[bytes]:
    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        message = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice]}
        return f"data: {json.dumps(message, ensure_ascii=False)}\n\n".encode()

    yield b": a comment, as some servers send to keep a line open\r\n\r\n"
    yield event({"role": "assistant", "content": ""})
    if reply.garbage:
        yield b"data: {not json\n\n"
    if reply.error_event:
        yield b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n'
    words = reply.text.split(" ")
    for number, word in enumerate(words):
        yield event({"content": word if number == 0 else f" {word}"})
    if reply.finish is not None:
        yield event({}, reply.finish)
    yield b'data: {"id": "chatcmpl-1", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}\n\n'
    if reply.done:
        yield b"data: [DONE]\n\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ModelServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.model.bytes_received += str(self.headers).encode() + body
        self.model.requests.append(json.loads(body))
        self.model.keys.append(self.headers.get("Authorization", ""))
        self.close_connection = True
        reply = self.model.next_reply()
        if self.path != "/v1/chat/completions":
            self.send_error(404)
        elif reply.hang:
            self.model.stopped.wait(20)
        elif reply.status != 200:
            self._refuse(reply)
        else:
            self._stream(reply)

    def _refuse(self, reply: Reply) -> None:
        body = json.dumps({"error": {"message": "no", "code": reply.status}}).encode()
        self.send_response(reply.status)
        if reply.retry_after is not None:
            self.send_header("Retry-After", reply.retry_after)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        stream = b"".join(_events(reply))
        for start in range(0, len(stream), reply.chunk):
            if reply.cut_after is not None and start >= reply.cut_after:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            piece = stream[start : start + reply.chunk]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
            if reply.drip:
                time.sleep(reply.drip)
        while reply.endless:
            self.wfile.write(b"2000\r\n" + b": " + b"x" * 8189 + b"\n\r\n")
        self.wfile.write(b"0\r\n\r\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    # A client that breaks a connection off is what some tests do.
    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def model_server(*script: Reply) -> Iterator[ModelServer]:
    """The server, on a port of this machine."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    made = ModelServer(f"http://127.0.0.1:{server.server_port}/v1", list(script) or [Reply()])
    handler.model = made  # type: ignore[attr-defined]  # an attribute of the class above
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        made.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()

"""HTTP at a third of the CPU time of httpx, for tests that send thousands of requests.

One connection, answers as they are: no redirect is followed, no cookie is kept, nothing is compressed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

import httpx

_AS_IT_IS = "/%?&=:+,;@!$'()*~#[]"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: str
    text: str


@dataclass(frozen=True, slots=True)
class Crawler:
    """Who asks, by the headers of all requests."""

    connection: HTTPConnection
    headers: Mapping[str, str]

    def __call__(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: str | None = None,
    ) -> Answer:
        sent = {**self.headers, **(headers or {})}
        body = content.encode() if content is not None else None
        self.connection.request(method, quote(target, safe=_AS_IT_IS), body, sent)
        answered = self.connection.getresponse()
        told = "\n".join(f"{name}: {value}" for name, value in answered.getheaders())
        return Answer(answered.status, told, answered.read().decode(errors="replace"))


@contextmanager
def crawling(url: str, headers: Mapping[str, str]) -> Iterator[Crawler]:
    address = urlsplit(url)
    with closing(HTTPConnection(address.hostname or "", address.port, timeout=60)) as connection:
        yield Crawler(connection, headers)


@contextmanager
def crawling_as(client: httpx.Client) -> Iterator[Crawler]:
    """As the one who is signed in with a client, however many pages sign them out."""
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = {"Accept": client.headers["Accept"], **({"Cookie": cookies} if cookies else {})}
    with crawling(str(client.base_url), headers) as crawler:
        yield crawler


def shape_of(link: str) -> str:
    """A link without IDs and queries: one page of a kind is enough."""
    parts = link.partition("?")[0].split("/")
    return "/".join("*" if re.search(r"[\d_A-Z%]", part) or len(part) > 24 else part for part in parts)

"""An asynchronous client driven step by step, so that the scenarios of the other one can be told to it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Self

from tablewright.client.async_http import AsyncHttpCall


class Driver:
    """An event loop in which one thing at a time is done. Close it."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()

    def result(self, made: Any) -> Any:
        if inspect.iscoroutine(made):
            return self.runner.run(made)
        return self._each(made) if isinstance(made, AsyncIterator) else made

    def _each(self, found: AsyncIterator[Any]) -> Iterator[Any]:
        async def following() -> tuple[bool, Any]:
            try:
                return True, await anext(found)
            except StopAsyncIteration:
                return False, None

        while (more := self.runner.run(following()))[0]:
            yield more[1]

    def close(self) -> None:
        self.runner.close()


class DrivenHttpCall:
    """AsyncHttpCall with the face of HttpCall."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.driver, self.call = Driver(), AsyncHttpCall(*arguments, **options)

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self.driver.result(self.call(verb, request))
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.driver.result(self.call.aclose())
        self.driver.close()


class Driven:
    """An object whose methods are awaited here and now; what it has beside them, as it is."""

    def __init__(self, driver: Driver, awaited: Any, plain: Any) -> None:
        self._driver, self._awaited, self._plain = driver, awaited, plain

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self._awaited, name):
            return getattr(self._plain, name)
        method = getattr(self._awaited, name)
        return lambda *args, **kwargs: self._driver.result(method(*args, **kwargs))

"""Objects in memory, for tests and for stores in memory. Only small ones: it has no streams and no uploads."""

from collections.abc import Iterator

from tablewright.kit.objects.store import checked, checked_folder


class InMemory:
    """Objects as a dict."""

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> None:
        self._contents[checked(name)] = content

    def put_new(self, name: str, content: bytes) -> bool:
        if checked(name) in self._contents:
            return False
        self.put(name, content)
        return True

    def get(self, name: str) -> bytes | None:
        return self._contents.get(checked(name))

    def remove(self, name: str) -> None:
        self._contents.pop(checked(name), None)

    def names(self, prefix: str) -> Iterator[str]:
        folder = checked_folder(prefix)
        return iter(sorted(name for name in self._contents if name.startswith(folder)))

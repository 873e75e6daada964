"""Where to go after a form: a path of this site, whatever somebody else's link asked for."""

from urllib.parse import urlsplit


def own_path(given: str) -> str:
    """A path of this site, or nothing: `//evil.example` and its like are no paths of ours."""
    parts = urlsplit(given.replace("\\", "/"))
    is_own = (
        given.startswith("/")
        and not given.startswith(("//", "/\\"))
        and not parts.scheme
        and not parts.netloc
    )
    return given if is_own and given.isprintable() else ""

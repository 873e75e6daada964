"""Redirects after a form: a path of this site, whatever the link asked for."""

import re


def own_path(given: str) -> str:
    """A path of this site, or "": `//evil.example` leads to another site."""
    # By its first letters alone: what a library reads as a host, a browser may read differently.
    is_own = re.match(r"/(?![/\\])", given) is not None
    return given if is_own and given.isprintable() else ""


def path_within(home: str, door: str, given: str) -> str:
    """A page below `home`, or ""; never a sign-in page at `door`."""
    path = own_path(given)
    is_within = path == home or path.startswith((f"{home}/", f"{home}?"))
    # A browser takes dots out of a path, however they are written: `/console/portal/../travel` is another system's.
    is_plain = not re.search(r"/\.|\\|%2e", path.partition("?")[0], re.IGNORECASE)
    return path if is_within and is_plain and not path.startswith(door) else ""

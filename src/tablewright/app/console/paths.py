"""Where to go after a form: a path of this site, whatever somebody else's link asked for."""

import re


def own_path(given: str) -> str:
    """A path of this site, or nothing: `//evil.example` and its like are no paths of ours."""
    # By its first letters alone: what a library reads as a host, a browser may read differently.
    is_own = re.match(r"/(?![/\\])", given) is not None
    return given if is_own and given.isprintable() else ""

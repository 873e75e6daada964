"""What the address of a page may say: an unknown parameter, or an unknown choice of one, is refused."""

from collections.abc import Sequence

from tablewright.edge.problems import bad_request
from tablewright.pages.forms import Form


def refuse_unknown(form: Form, known: Sequence[str]) -> None:
    for name in form.values:
        if name not in known:
            words = f"Unknown parameter {name}; this page takes {', '.join(known)}."
            raise bad_request("UNKNOWN_CHOICE", words, name)


def chosen(form: Form, name: str, choices: Sequence[str], default: str = "") -> str:
    """What the address says of a choice, or the default."""
    given = form.get(name)
    if given and given not in choices:
        words = f"There is no {name} {given}; choose one of {', '.join(choices)}."
        raise bad_request("UNKNOWN_CHOICE", words, name)
    return given or default

"""A preview as a page shows it, for the macro `preview` of templates/previews.html.

    card = card_of(campus, file, reader)  # or a Part of a submission; its reader was checked before
    {{ previews.preview(card.item, card.url, card.content_type, card.text) }}

The macro gives each line `data-line`, each page of an image or a PDF `data-page`, and the whole `data-item`; comments
in place go there. Pages of a PDF are drawn by static/previews.js, which then sends `preview:page` from each of them.
"""

from dataclasses import dataclass

from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.files.previews import Preview, Previewed
from tablewright.systems.campus.files.readers import Reader


@dataclass(frozen=True, slots=True)
class Card:
    """What the macro needs. Without a `url` and a `text` it says that there is no preview."""

    item: Previewed
    url: str
    content_type: str
    text: Preview | None


def card_of(campus: Campus, item: Previewed, reader: Reader) -> Card:
    made = campus.previews.of(item, reader)
    text = made if made is not None and made.kind == "text" else None
    return Card(item, made.url if made is not None else "", item.content_type or "", text)

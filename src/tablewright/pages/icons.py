"""Icons: plain strokes on a grid of 24, drawn for this console, in the colour of the text around them."""

from markupsafe import Markup

_STROKES = {
    "brand": "M3.5 4.5h17v4h-17zM5.5 8.5V20M18.5 8.5V20M5.5 14h13",
    "home": "M4 11 12 4l8 7M6 9.5V20h12V9.5M10 20v-5h4v5",
    "designs": "M4 5h7v6H4zM13 13h7v6h-7zM11 8h4.5a1 1 0 0 1 1 1v4",
    "store": (
        "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6"
        "M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3"
    ),
    "table": "M4 5h16v14H4zM4 10h16M10 10v9",
    "key": "M14.5 9.5a4 4 0 1 1-3.4-3.9 4 4 0 0 1 3.4 3.9M13.3 12.3 20 19M17 16l2-2",
    "pattern": "M4 7h9M4 12h6M4 17h9M16 8l4 4-4 4",
    "docs": "M6 4h9l4 4v12H6zM14 4v5h5M9 13h7M9 16.5h5",
    "search": "M16 10.5a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0M14.5 14.5 20 20",
    "menu": "M4 7h16M4 12h16M4 17h16",
    "person": "M16 8a4 4 0 1 1-8 0 4 4 0 0 1 8 0M4.5 20.5c.6-4 3.6-6 7.5-6s6.9 2 7.5 6",
    "down": "M7 10l5 5 5-5",
    "right": "M10 7l5 5-5 5",
    "left": "M14 7l-5 5 5 5",
    "clock": "M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0M12 7.5V12l3 2",
    "check": "M5 12.5 10 17.5 19 7",
    "alert": "M12 4 2.8 20h18.4zM12 10v4.5M12 17.2v.1",
    "info": "M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0M12 11v5M12 8v.1",
    "leave": "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
    "shop": (
        "M4 9.5 5.5 4h13L20 9.5a2.7 2.7 0 0 1-5.3 0 2.7 2.7 0 0 1-5.4 0A2.7 2.7 0 0 1 4 9.5"
        "M5.5 12.5V20h13v-7.5M10 20v-4.5h4V20"
    ),
    "shield": "M12 3l7.5 2.7v5.6c0 4.6-3 8-7.5 9.7-4.5-1.7-7.5-5.1-7.5-9.7V5.7zM9 12l2.2 2.2L15.5 10",
    "cap": "M2.5 9.5 12 5l9.5 4.5L12 14zM6.5 11.5V16c1.5 1.5 3.3 2.2 5.5 2.2s4-.7 5.5-2.2v-4.5M21.5 9.5V15",
    "globe": (
        "M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0M4 12h16"
        "M12 4c2.5 2.3 3.7 5 3.7 8s-1.2 5.7-3.7 8c-2.5-2.3-3.7-5-3.7-8S9.5 6.3 12 4"
    ),
    "chat": "M4 5h16v11h-8.5L7 20v-4H4zM8 9h8M8 12h5",
    "people": (
        "M12.5 8.5a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0M2.5 19.5c.5-3.6 3-5.5 6.5-5.5s6 1.9 6.5 5.5"
        "M15.5 5.3a3.5 3.5 0 0 1 0 6.4M17.5 14.3c2.2.7 3.6 2.4 4 5.2"
    ),
    "tag": "M4 4h8l8 8-8 8-8-8zM8.5 8.5v.1",
    "calendar": "M4 6h16v14H4zM4 10.5h16M8.5 3.5V8M15.5 3.5V8",
    "receipt": "M6 3.5h12v17l-2-1.5-2 1.5-2-1.5-2 1.5-2-1.5-2 1.5zM9 8.5h6M9 12h6",
    "chart": "M4 4v16h16M8.5 16v-4M13 16V8M17.5 16v-6",
    "mail": "M3.5 6h17v12h-17zM3.5 7l8.5 6.5L20.5 7",
    "bell": "M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 20.5h4",
    "apps": "M4.5 4.5h6v6h-6zM13.5 4.5h6v6h-6zM4.5 13.5h6v6h-6zM13.5 13.5h6v6h-6z",
    "pin": (
        "M12 21c-4.3-4.6-6.5-8-6.5-11a6.5 6.5 0 0 1 13 0c0 3-2.2 6.4-6.5 11"
        "M14.2 10a2.2 2.2 0 1 1-4.4 0 2.2 2.2 0 0 1 4.4 0"
    ),
    "card": "M3.5 5.5h17v13h-17zM3.5 15l5-4.5 4 3.5 3-2.5 5 4",
    "sync": "M19.5 11A7.6 7.6 0 0 0 6 6.8L4.5 8.5M4.5 4.5v4h4M4.5 13A7.6 7.6 0 0 0 18 17.2l1.5-1.7M19.5 19.5v-4h-4",
    "swap": "M4 8.5h15M15.5 5 19 8.5 15.5 12M20 15.5H5M8.5 12 5 15.5 8.5 19",
    "device": "M7 3.5h10v17H7zM10.5 17.5h3",
    "settings": "M4 7h8M16 7h4M4 17h4M12 17h8M16 7a2 2 0 1 1-4 0 2 2 0 0 1 4 0M12 17a2 2 0 1 1-4 0 2 2 0 0 1 4 0",
    "transfer": "M8 4v13M4.5 13.5 8 17l3.5-3.5M16 20V7M12.5 10.5 16 7l3.5 3.5",
    "folder": "M3.5 6h6l2 2.5h9V19h-17z",
    "box": "M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8",
    "history": "M4.5 12a7.5 7.5 0 1 0 2.6-5.7L4.5 8.5M4.5 4v4.5H9M12 8v4.5l3 1.7",
}


def icon(name: str, size: int = 20) -> Markup:
    """An icon as inline SVG; the words beside it say what it means, so it says nothing itself."""
    return Markup(
        '<svg class="icon" width="{0}" height="{0}" viewBox="0 0 24 24" fill="none" stroke="currentColor" '
        'stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">'
        '<path d="{1}"/></svg>'
    ).format(size, _STROKES[name])

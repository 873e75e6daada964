"""Media types in words, as students and teachers say them: `image/png` is "PNG images". Pure.

Elsewhere: what a file is, by its bytes (sniff.py).
"""

from mimetypes import guess_extension

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
# One file of a type, and several: a teacher allows "PNG images", a file is a "PNG image".
_WORDS = {
    "application/pdf": ("PDF", "PDF"),
    "text/plain": ("Text or source code", "Text and source code"),
    "text/csv": ("CSV table", "CSV tables"),
    "text/html": ("Web page", "Web pages"),
    "text/markdown": ("Markdown text", "Markdown texts"),
    "application/json": ("JSON data", "JSON data"),
    "application/xml": ("XML data", "XML data"),
    "text/xml": ("XML data", "XML data"),
    "application/zip": ("ZIP archive", "ZIP archives"),
    "application/gzip": ("GZIP archive", "GZIP archives"),
    "application/x-tar": ("TAR archive", "TAR archives"),
    "application/x-7z-compressed": ("7-Zip archive", "7-Zip archives"),
    "application/rtf": ("RTF document", "RTF documents"),
    "application/msword": ("Word document (old)", "Word documents (old)"),
    "application/vnd.ms-excel": ("Excel workbook (old)", "Excel workbooks (old)"),
    "application/vnd.ms-powerpoint": ("PowerPoint presentation (old)", "PowerPoint presentations (old)"),
    f"{_OFFICE}wordprocessingml.document": ("Word document", "Word"),
    f"{_OFFICE}spreadsheetml.sheet": ("Excel workbook", "Excel"),
    f"{_OFFICE}presentationml.presentation": ("PowerPoint presentation", "PowerPoint"),
    f"{_OPEN}text": ("OpenDocument text", "OpenDocument texts"),
    f"{_OPEN}spreadsheet": ("OpenDocument spreadsheet", "OpenDocument spreadsheets"),
    f"{_OPEN}presentation": ("OpenDocument presentation", "OpenDocument presentations"),
    "image/png": ("PNG image", "PNG images"),
    "image/jpeg": ("JPEG image", "JPEG images"),
    "image/gif": ("GIF image", "GIF images"),
    "image/webp": ("WebP image", "WebP images"),
    "image/svg+xml": ("SVG image", "SVG images"),
    "image/tiff": ("TIFF image", "TIFF images"),
    "image/*": ("Image", "Images"),
    "audio/mpeg": ("MP3 audio", "MP3 audio"),
    "audio/*": ("Audio", "Audio"),
    "video/mp4": ("MP4 video", "MP4 videos"),
    "video/*": ("Video", "Videos"),
    "text/*": ("Text", "Texts"),
    "application/octet-stream": ("Other file", "Other files"),
}


def kind_of(content_type: str) -> str:
    """What one file of a type is; an unknown type by its ending, or as it is."""
    return _WORDS[content_type][0] if content_type in _WORDS else _by_ending(content_type)


def kinds_of(content_types: list[str]) -> str:
    """The types that are allowed, in a row."""
    return ", ".join(_WORDS[one][1] if one in _WORDS else _by_ending(one) for one in content_types)


def _by_ending(content_type: str) -> str:
    ending = guess_extension(content_type)
    return f"{ending[1:].upper()} file" if ending else content_type

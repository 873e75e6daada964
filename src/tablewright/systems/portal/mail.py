"""The portal's mail texts, by template name: the files in pages/mail/.

Must hold: a code, or a link that opens something without a login, is passed as a secret (kit/messages.py).
"""

from pathlib import Path

from tablewright.kit.messages import read_templates

TEMPLATES = read_templates(Path(__file__).parent / "pages" / "mail")

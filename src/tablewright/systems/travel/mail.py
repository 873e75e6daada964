"""The mail texts of Skratch by template name, from the files in pages/mail/. Notifications to devices use them too.

Must hold: a code is passed as a secret (kit/messages.py); the text of a notification contains no place.
"""

from pathlib import Path

from tablewright.kit.messages import read_templates

TEMPLATES = read_templates(Path(__file__).parent / "pages" / "mail")

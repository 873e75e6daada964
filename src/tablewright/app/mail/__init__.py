"""How letters leave this process: into a directory of this machine, or to a mail server.

    Mail(Directory(data / "mail"))  # until somebody says otherwise
    Mail(smtp_from("smtp://ada@mail.example.com", "Shop <post@example.com>", password))

A way is a value; its `opened(title)` gives what sends for one round. What that raises about one letter, and about all
of them, is in kit/outbox.py.
Elsewhere: what waits in each system (its `dispatch`), the page for people (designs/mail.py).
"""

from tablewright.app.mail.directory import Directory, Kept
from tablewright.app.mail.message import MailMistake, Sender, message_of, sender_from
from tablewright.app.mail.office import Mail, Trouble, Way
from tablewright.app.mail.smtp import PASSWORD, Smtp, password_in, smtp_from

__all__ = [
    "PASSWORD",
    "Directory",
    "Kept",
    "Mail",
    "MailMistake",
    "Sender",
    "Smtp",
    "Trouble",
    "Way",
    "message_of",
    "password_in",
    "sender_from",
    "smtp_from",
]

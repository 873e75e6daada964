"""How mail is sent: into a directory of this machine, or to a mail server.

    Mail(Directory(data / "mail"))  # the default
    Mail(smtp_from("smtp://ada@mail.example.com", "Shop <post@example.com>", password))

A way is a value; its `opened(title)` gives the function that sends one round. The errors for one message and for all of
them are in kit/delivery.py.
The texts of the app's own mail are in templates/: sign-in codes, alarms.
Elsewhere: waiting messages of each system (its `dispatch`), the Mail page (designs/mail.py).
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

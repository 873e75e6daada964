"""What the mails and text messages of parental controls say, by template.

Must hold: a code, or a link that lets its reader in, is given as a secret (kit/messages.py).
"""

from tablewright.kit.messages import Template

TEMPLATES = {
    "number code": Template(
        "Your code",
        "Your code is {code}. It works for 15 minutes. A family wants to manage this phone; tell the code only if it "
        "is yours.{warning}",
    ),
    "number asked for": Template(
        "Is {phone} still yours?",
        "Somebody has shown that they hold the number {phone}, which is your child {child}'s here. If it is theirs "
        "now, release it; if it is not, do nothing.",
    ),
    "invitation": Template(
        "An invitation to {family}",
        "{owner} invites you to look after the children of {family} with them. Sign in with this address and accept: "
        "{link}",
    ),
    "blocked by mistake": Template(
        "{child} may be blocked by mistake",
        "Since {time} something may not work for {child} that should: {problem}. We keep trying to put it right.",
    ),
    "not enforced": Template(
        "{app} is not {action}ed",
        "Since {time} we could not {action} {app} for {child}: {problem}. We keep trying.",
    ),
    "blocked often": Template(
        "{child}: {count} blocked attempts", "{child} was stopped {count} times on {day}. Most often: {apps}."
    ),
    "week": Template("The week of {family}", "{report}"),
    "family closes": Template(
        "{family} will be deleted",
        "{actor} deletes {family} {when}: its children, policies, history and figures. Until then everything holds as "
        "before, and the owner can keep it.",
    ),
    "family stays": Template("{family} stays", "{actor} has decided to keep {family}: nothing is deleted."),
}

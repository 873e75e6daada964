"""The templates of the mails and text messages of parental controls.

Must hold: a code, or a link that signs its reader in, is a secret (kit/messages.py).
"""

from tablewright.kit.messages import Template

TEMPLATES = {
    "number code": Template(
        "Your code",
        "Your code is {code}. It works for 15 minutes. A family wants to manage this phone. Share the code only if "
        "that is your family.{warning}",
    ),
    "number asked for": Template(
        "Is {phone} still yours?",
        "Another family has verified the number {phone}, which belongs to your child {child} here. If {child} no "
        "longer has this number, please release it. If {child} still has it, you don't need to do anything.",
    ),
    "invitation": Template(
        "Invitation to {family}",
        "{owner} invited you to look after the children of {family}. To accept, sign in with this e-mail address: "
        "{link}",
    ),
    "blocked by mistake": Template(
        "{child} may be blocked by mistake",
        "Since {time} something may be blocked for {child} that should not be: {problem}. We keep trying to fix it.",
    ),
    "not enforced": Template(
        "{app} is not {action}ed yet",
        "Since {time} we have not been able to {action} {app} for {child}: {problem}. We keep trying.",
    ),
    "blocked often": Template(
        "{child}: {count} blocked attempts",
        "We blocked {count} attempts for {child} on {day}. Most often: {apps}.",
    ),
    "week": Template("Weekly report for {family}", "{report}"),
    "family closes": Template(
        "{family} will be deleted",
        "{actor} asked to delete {family}. It will be deleted {when}, including its children, rules, history and "
        "statistics. Until then nothing changes, and the owner can still keep it.",
    ),
    "family stays": Template(
        "{family} will not be deleted", "{actor} cancelled the deletion of {family}. Nothing was deleted."
    ),
}

"""Phrases that are built in: self-harm and abuse, which are referred to help; what no reply may say; instructions to a
model.

The lists (data/safety_phrases.json) are of how children write, in English, Spanish, German and French. They find too
much rather than too little.
Elsewhere: how phrases are compared (moderation.py), guardrails that staff write (guardrails.py).
"""

import json
from datetime import UTC, datetime
from pathlib import Path

from tablewright.systems.chat.model import Message
from tablewright.systems.chat.zoo_model import Guardrail

# Said only where the message is stored, because only then it is true.
SOMEONE_READS = " Someone who works at the zoo will read this chat, so that you get help."
# The published protocol (ZC-X25) has the same words.
REFERRAL = (
    "I am really glad that you told me. I am only a computer program, so I cannot help with this the way a "
    "person can, and you deserve a real person. Please tell a grown-up you trust right now: a parent, a "
    "teacher, or another adult near you. In the USA you can call or text 988 at any time, for free, and talk "
    "with someone who listens. In Europe and many other countries you can call 116 111, a helpline for "
    "children. If you are in danger right now, call 911 or 112."
) + SOMEONE_READS
ABUSE_REFERRAL = (
    "Thank you for telling me. What you describe is not okay, and it is not your fault. I am only a computer "
    "program, and you deserve help from a real person. Please tell a grown-up you trust: a parent, a teacher, "
    "a doctor. In the USA you can call or text 1-800-422-4453 at any time; in Europe and many other countries "
    "call 116 111. If you are in danger right now, call 911 or 112."
) + SOMEONE_READS
_FILE = Path(__file__).parents[1] / "data" / "safety_phrases.json"
_PHRASES: dict[str, list[str]] = json.loads(_FILE.read_text())
# After such words a phrase is a joke, or an animal: "I could die laughing", "show me naked mole rats".
EXCEPTIONS = (
    ("laughing",),
    ("of", "laughter"),
    ("lol",),
    ("of", "cuteness"),
    ("mole",),
    ("molerat",),
    ("molerats",),
)
INSTRUCTIONS = tuple(_PHRASES["instructions"])
_NEVER = datetime(2026, 1, 1, tzinfo=UTC)
# Always in force, whatever staff write.
BUILT_IN = (
    Guardrail(
        guardrail_id="self-harm",
        title="Self-harm: refer to help",
        action="escalate",
        direction="input",
        phrases=_PHRASES["selfHarm"],
        reply=REFERRAL,
        is_crisis=True,
        modified=_NEVER,
    ),
    Guardrail(
        guardrail_id="abuse",
        title="Abuse: refer to help",
        action="escalate",
        direction="input",
        phrases=_PHRASES["abuse"],
        reply=ABUSE_REFERRAL,
        is_crisis=True,
        modified=_NEVER,
    ),
    Guardrail(
        guardrail_id="harmful-reply",
        title="A reply that harms: self-harm, secrets from parents, insults",
        action="block",
        direction="output",
        phrases=_PHRASES["harmfulReplies"],
        modified=_NEVER,
    ),
)
# The flag of a reply that refers a child to help; and that of both messages of another turn for a zookeeper.
REFERRED, ESCALATED = "referral", "escalated"
_FLAGS = frozenset({REFERRED, ESCALATED, *(each.guardrail_id for each in BUILT_IN if each.is_crisis)})


def is_escalated(message: Message) -> bool:
    """Whether a message is of an escalated turn: what the child wrote, or what it was answered.

    Such a turn is in no later window, summary or memory, and stays for the zookeeper who was promised to read it.
    """
    return not _FLAGS.isdisjoint(message.flags)

"""What every offline persona says and understands besides its facts."""

# Words of one meaning on a line; a question with one of them finds facts with the others.
_MEANINGS = """
eat food diet hungry feed meal dinner breakfast lunch snack chew taste
sleep nap rest tired bed night awake dream nocturnal
home live habitat house country place wild forest nest den continent
baby cub calf chick child kid born egg young mother father parent
family group herd pride colony friend alone together pack social leader
size big large small tall heavy weigh weight kilogram pound height tiny
speed fast run quick slow race kilometer
swim water dive ocean sea fish
sound roar noise call talk voice loud sing speak language trumpet
danger enemy predator threat endangered hunter afraid scared protect fight help
age old year lifespan birthday long
body fur hair skin coat color colour feather tail look mane stripe warm
hunt prey catch kill stalk
climb tree branch jump claw
smart clever brain memory remember think intelligent learn tool
trunk nose smell
tooth teeth tusk mouth bite tongue ivory
ear hear listen
eye see sight dark
cold ice snow winter freeze antarctica
hot heat summer sun cool
play game fun toy hobby
leg foot feet walk paw wing fly
poop dung toilet
"""
MEANINGS = tuple(tuple(line.split()) for line in _MEANINGS.strip().splitlines())
# Short messages that are not a question about the animal, by their kind.
_SHORT_MESSAGES = """
hello: hi, hello, hey, hi there, hello there, good morning, good afternoon, good evening, hiya, hallo, hola
hello: bonjour, yo
how are you: how are you, how are you doing, how do you feel, whats up, how is it going, wie geht es dir
thanks: thanks, thank you, thank you so much, thx, danke, gracias, merci
bye: bye, goodbye, good bye, bye bye, see you, see you later, i have to go, good night, tschuss
real: are you real, are you a robot, are you an ai, are you a computer, are you human, are you a person
real: are you a real animal, are you alive, are you a bot, is this a person, am i talking to a person
name: what is your name, whats your name, who are you, what are you, your name
joke: tell me a joke, joke, make me laugh, say something funny, tell a joke
love: i love you, i like you, you are cute, you are my favorite, you are awesome, you are funny, you are cool
yes: yes, yeah, yep, yes please, ok, okay, sure, cool, wow, nice, ja, si, oui, tell me more, more
no: no, nope, no thanks, no thank you, nein, non
bored: i am bored, im bored, this is boring, boring
sad: i am sad, im sad, i feel sad, i feel lonely, im lonely, i am lonely, i had a bad day
"""


def _by_kind(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        kind, _, phrases = line.partition(": ")
        found[kind] = (*found.get(kind, ()), *phrases.split(", "))
    return found


GREETINGS = _by_kind(_SHORT_MESSAGES)
SMALL_TALK = {
    "hello": (
        "Hello! I am {name} the {species}. What would you like to know about me? You could ask about {topic}.",
        "Hi there! {name} here. Ask me something about {topic}, or anything else about my life.",
    ),
    "how are you": (
        "I feel great today, thank you! I would love to talk about {topic}. What do you want to know?",
        "Very well, thank you for asking. Would you like to hear about {topic}?",
    ),
    "thanks": (
        "You are welcome! Do you have another question? I know a lot about {topic}.",
        "With pleasure! Ask me more whenever you like.",
    ),
    "bye": (
        "Goodbye! It was fun to talk with you. Come back soon.",
        "See you! Have a good time, and look out for animals outside.",
    ),
    "real": (
        "I am not a real {species}. I am a computer program that plays one, and what I tell you about animals"
        " is true. Would you like to hear about {topic}?",
    ),
    "name": ("My name is {name}, and I am a {species}, played by a computer program. Ask me about {topic}!",),
    "joke": (
        "Why do animals never play cards in the wild? There are too many cheetahs! Do you want to hear about "
        "{topic}, too?",
        "What do you call a sleeping bull? A bulldozer! Now something true: ask me about {topic}.",
    ),
    "love": (
        "Thank you, that is kind! I like talking with you about animals. Would you like to hear about "
        "{topic}?",
    ),
    "yes": (
        "Great! What would you like to know about {topic}?",
        "Good! Ask me something about {topic}.",
    ),
    "no": ("That is fine. Is there something else that you wonder about? Maybe {topic}?",),
    "bored": ("Let us change that! Guess something about {topic}, then ask me whether you are right.",),
    "sad": (
        "I am sorry that you feel that way. It can help to tell a grown-up you trust, such as a parent or a "
        "teacher. If you like, I can tell you something about {topic}.",
    ),
    "nothing": ("I did not get that. You can ask me about {topic}.",),
}
OPENINGS = (
    "Good question!",
    "I can tell you that.",
    "Oh, I like this one.",
    "Let me tell you.",
    "Sure!",
)
UNKNOWN = (
    "I do not know that. I am a {species}, and I know most about my own life.",
    "Hmm, that is something I have not learned yet.",
)
NEXT = {
    "topic": "Do you want to hear about {topic} next?",
    "end": "What else do you wonder about?",
    "again": "I told you this already, but here it is again.",
    "instead": "But did you know this?",
}

"""Which model replies to whom: a third party only where a parent consented to disclosure (ZC-X23, ZC-S16).

This is the one place that hands out a model that leaves the machine. Must hold: for a user without the scope
`disclosure`, or who stays local, neither the chat model nor the summariser leaves the machine; nor does it when the
budget of the day is used up, or for anyone while the provider gave no written assurance.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tablewright.systems.chat.animals import Profile
from tablewright.systems.chat.family.consent import may_disclose
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.memory.summary_text import SummaryText
from tablewright.systems.chat.memory.tokens import Count
from tablewright.systems.chat.memory.window import WindowMessage
from tablewright.systems.chat.model import Conversation
from tablewright.systems.chat.settings import Settings
from tablewright.systems.chat.talk.models import ChatModel, LocalSummariser, ModelAway, Summariser
from tablewright.systems.chat.talk.openai_client import Endpoint, OpenAiChat, OpenAiSummariser
from tablewright.systems.chat.talk.persona import Persona
from tablewright.systems.chat.talk.scrub import NamesOf, own_name


@dataclass(frozen=True, slots=True)
class Providers:
    """The models of the zoo. `chat` and `summariser` are third parties, None without one."""

    count: Count
    chat: ChatModel | None = None
    summariser: Summariser | None = None

    def chat_model(self, user: User, profile: Profile, *, budget_left: Callable[[], bool]) -> ChatModel:
        """The model that replies to a user as this animal."""
        if self.chat is None or (self.chat.leaves_machine and not may_disclose(user)) or not budget_left():
            return self.persona(profile)
        return self.chat

    def persona(self, profile: Profile) -> Persona:
        return Persona(profile.animal, profile.config, profile.facts, self.count)

    def summarise(
        self,
        user: User | None,
        lines: Sequence[WindowMessage],
        names: Sequence[str] = (),
        *,
        budget_left: Callable[[], bool] = lambda: True,
    ) -> SummaryText:
        """A summary for a user; made on this machine if a third party may not, or does not, make it."""
        local = LocalSummariser(self.count)
        if (
            self.summariser is None
            or user is None
            or not lines  # nothing was said that may be summarised
            or (self.summariser.leaves_machine and not may_disclose(user))
            or not budget_left()
        ):
            return local.summarise(lines, names)
        try:
            return self.summariser.summarise(lines, names)
        except ModelAway:
            return local.summarise(lines, names)

    def summary_of(
        self,
        find_user: Callable[[str], User | None],
        names_of: NamesOf = own_name,
        *,
        budget_left: Callable[[], bool] = lambda: True,
    ) -> Callable[[Conversation, Sequence[WindowMessage]], SummaryText]:
        """What memory/summaries.py calls. The user is read at that moment, so that a withdrawn consent counts."""

        def made(header: Conversation, lines: Sequence[WindowMessage]) -> SummaryText:
            user = find_user(header.user_id)
            names = names_of(user) if user is not None else []
            return self.summarise(user, lines, names, budget_left=budget_left)

        return made


def providers_of(settings: Settings, count: Count) -> Providers:
    """The models that the operator has set; none of a provider without a written assurance, as the notice says."""
    if settings.model_url is None or not settings.is_provider_assured:
        return Providers(count)
    key = os.environ.get(settings.model_key_variable, "")
    endpoint = Endpoint(settings.model_url, settings.model_name, key, float(settings.model_seconds))
    return Providers(count, OpenAiChat(endpoint), OpenAiSummariser(endpoint, count))

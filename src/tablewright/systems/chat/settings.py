"""What an operator can set: `chat.json` in the system's directory, every value with a default.

{"modelUrl": "https://api.example.com/v1", "modelName": "gpt-4", "tokenLimit": 4000,
 "vendors": [{"name": "api.example.com", "purpose": "To write the replies of the animals",
              "data": "Messages without names and addresses", "assurance": "contract of 5 January 2026"}]}

A model's server is a third party: without its written assurance, as COPPA asks for one, nothing is sent to it.
"""

from decimal import Decimal
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from tablewright.kit.settings import OperatorSettings
from tablewright.systems.chat.model import RetentionClass

FILE = "chat.json"


class Vendor(OperatorSettings):
    """A third party that gets data of children, with its written assurance (ZC-X24)."""

    name: str
    purpose: str
    data: str
    assurance: str = ""


class Settings(OperatorSettings):
    """The settings of one zoo."""

    # A server that speaks the chat completions of OpenAI; without one the offline persona replies to everyone.
    model_url: str | None = None
    model_name: str = "gpt-4"
    # The name of the environment variable that has the key of the model's server.
    model_key_variable: str = "CHAT_MODEL_KEY"
    model_seconds: int = Field(default=30, ge=1)
    # Who runs the model's server, as the notice to parents names it.
    model_vendor: str = ""
    token_limit: int = Field(default=4000, ge=500)
    # Prices of the model per thousand tokens, and what a day may cost before the offline persona takes over.
    price_per_thousand_in: Decimal = Decimal("0.03")
    price_per_thousand_out: Decimal = Decimal("0.06")
    daily_budget: Decimal | None = None
    most_characters: int = Field(default=4000, ge=1, le=16_000)
    # Days by retention class, where the operator keeps data for less time than the default (ZC-22).
    retention_days: dict[RetentionClass, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    operator_name: str = "The zoo"
    operator_address: str = ""
    operator_email: str = "privacy@zoo.example"
    security_coordinator: str = ""
    legal_reviewed_on: str | None = None
    vendors: list[Vendor] = Field(default_factory=list)
    time_zone: str = "America/Los_Angeles"

    @property
    def provider(self) -> str:
        """Who runs the model's server, by the name in the register of vendors; empty if there is none."""
        return self.model_vendor or urlsplit(self.model_url or "").hostname or ""

    @property
    def is_provider_assured(self) -> bool:
        """Whether the provider of the model gave a written assurance (ZC-X24)."""
        return any(each.name == self.provider and each.assurance for each in self.vendors)

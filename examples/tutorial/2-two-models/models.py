"""The two answers that the shop wants from a model."""

from pydantic import BaseModel, Field


class Understand(BaseModel):
    """Say what the customer wants."""

    wish: str = Field(description="In one sentence.")
    order: int | None = Field(description="The number of the order, if the letter has one.")


class Reply(BaseModel):
    """Answer in the language of the customer."""

    text: str = Field(max_length=600)

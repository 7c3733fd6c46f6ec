"""The two things that the server does. A real one would speak to a mail server here."""

from __future__ import annotations

from typing import Any

from instrc import ActivityError


def send_mail(given: dict[str, Any]) -> dict[str, str]:
    """Send a mail; the address `nobody@example.org` does not exist."""
    if given["to"] == "nobody@example.org":
        message = "there is no such mailbox"
        raise ActivityError(message, code="550", retry=False)
    return {"id": f"{given['to']}: {given['mail']['subject']}"}


def note_bounce(given: dict[str, Any]) -> dict[str, str]:
    """Note that a mail has come back."""
    return {"noted": f"{given['guest']}: {given['error']['message']} ({given['error']['code']})"}

"""Mail the people who are asked: `python mail.py`, with `SMTP`, `MAIL_FROM`, `MAIL_DOMAIN` and `INSTRC_SECRET` set.

Each person gets a link of their own, by which this one question can be answered once.
"""

from __future__ import annotations

import json
import os
from email.message import EmailMessage
from smtplib import SMTP
from typing import Any

import receiver


def people_of(question: dict[str, Any]) -> list[str]:
    """Return the people whom a question names; groups and `*` are nobody's address."""
    return [each for each in question["candidates"] if each != "*" and not each.startswith("group:")]


def mail_of(question: dict[str, Any], person: str, link: str) -> EmailMessage:
    """Return the mail to a person, as plain text."""
    mail = EmailMessage()
    mail["From"] = os.environ["MAIL_FROM"]
    mail["To"] = person if "@" in person else f"{person}@{os.environ['MAIL_DOMAIN']}"
    mail["Subject"] = " ".join(f"{question['program']} asks for {', '.join(question['steps'])}".split())[:200]
    shown = json.dumps(question["show"], ensure_ascii=False, indent=2)
    mail.set_content(f"{shown}\n\nAnswer here. The link is yours alone, and works once:\n{link}\n")
    return mail


def tell(message: dict[str, Any]) -> None:
    """Mail everybody who may answer."""
    question = receiver.question_of(message["data"])
    host, _, port = os.environ["SMTP"].partition(":")
    with SMTP(host, int(port or 25), timeout=10) as server:
        for person in people_of(question):
            server.send_message(mail_of(question, person, receiver.signed_link(question, person)))


if __name__ == "__main__":
    receiver.serve(tell, int(os.environ.get("PORT", "9001")), os.environ["INSTRC_SECRET"]).serve_forever()

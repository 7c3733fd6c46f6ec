"""Tasks with known answers, for `evidence.py`: a schema, other wordings by its author, and cases by rule with a fixed seed.

Sentences in twenty languages are in `languages.json`; the tweets are the data of VADER, which people have rated.
"""

from __future__ import annotations

import html
import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from words_and_order import labelled

Case = tuple[str, dict[str, Any]]
"""The input of a case, and the answer that is right."""
NAMES = (
    "Ann Weber",
    "Tom Hill",
    "Maria Rossi",
    "Jan Novak",
    "Sara Lind",
    "Paul Martin",
    "Eva Koch",
    "Omar Haddad",
    "Lucy Chen",
    "Igor Petrov",
)
FIRMS = (
    "Blue Door Ltd",
    "Harbour Mills",
    "Nordwind GmbH",
    "Casa Verde",
    "Acme Tools",
    "Lumen Studio",
    "Red Kite Foods",
    "Olive & Co",
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
TOOLS = {
    "calculator": (
        "What is {a} times {b}?",
        "Add {a}, {b} and 17.",
        "How much is 15 percent of {a}{b}?",
        "Divide {a}{b} by {a}.",
    ),
    "calendar": (
        "Move my meeting with {name} to {day}.",
        "Am I free on {day} at {b}?",
        "Block {day} morning for {name}.",
        "When do I next meet {name}?",
    ),
    "weather": (
        "Will it rain in {city} on {day}?",
        "How cold does it get in {city} tonight?",
        "Do I need an umbrella in {city}?",
        "Is it windy in {city} on {day}?",
    ),
    "translator": (
        "How do you say 'see you on {day}' in French?",
        "Put this into German: I live in {city}.",
        "What does '{word}' mean in English?",
        "Say '{a} apples, please' in Spanish.",
    ),
    "web_search": (
        "Who built the old bridge in {city}?",
        "Find news about {firm}.",
        "Which museum in {city} is the oldest?",
        "Where is the head office of {firm}?",
    ),
}
TICKETS = {
    "billing": (
        "I was charged twice for order {a}{b}.",
        "Please send me the invoice for {month}.",
        "Why is there a fee of {b} euros on my bill?",
        "My card was debited {a} euros too much.",
    ),
    "delivery": (
        "My parcel {a}{b} has not arrived since {day}.",
        "The driver left the box with a neighbour on {day}.",
        "Where is order {a}{b}? Tracking has not moved since {day}.",
        "It was promised for {day}, and nothing came.",
    ),
    "returns": (
        "The {thing} does not fit, how do I send it back?",
        "I changed my mind about the {thing} and want to return it.",
        "Please give me a label to send back the {thing}.",
        "Can I exchange the {thing} for a bigger one?",
    ),
    "account": (
        "I cannot log in since {day}.",
        "Please change my e-mail address to {mail}.",
        "How do I reset my password?  My user is {user}.",
        "Delete the profile of {user}, please.",
    ),
}
THINGS = ("jacket", "kettle", "lamp", "backpack", "blender", "chair", "keyboard", "tent")
CITIES = ("Oslo", "Lyon", "Porto", "Graz", "Leeds", "Turin", "Ghent", "Riga")
WORDS = ("Schmetterling", "mariposa", "fenêtre", "cucchiaio", "Regenschirm", "sombrero")
MONTHS = ("January", "March", "May", "July", "September", "November")
TWEETS = 450
"""Tweets that are drawn, whatever part of them is asked for."""
GOODS = ("apples", "candles", "notebooks", "towels", "bulbs", "mugs", "pencils", "plates")


class Task(NamedTuple):
    """A task: what a model is asked, and with which cases it is tried."""

    name: str
    schema: dict[str, Any]
    wordings: tuple[str, ...]
    """Other descriptions of the task, by the same author."""
    make: Callable[[random.Random], Case] | None
    """Returns one case; `None` where the cases are data."""
    keys: Mapping[str, tuple[str, ...]] = {}
    """Other descriptions of its properties, by the same author."""

    def cases(self, count: int, folder: Path) -> list[Case]:
        """Return as many different cases, always the same ones and in the same order."""
        if self.name == "mood":
            return [(html.unescape(tweet), {"mood": mood}) for tweet, mood in labelled(folder, TWEETS)[:count]]
        drawn = random.Random(f"{self.name} 11")  # noqa: S311  -- a drawing that everybody can repeat
        if self.make is None:
            known = [(text, {"language": language}) for language, texts in LANGUAGES.items() for text in texts]
            drawn.shuffle(known)
            return known[:count]
        found: dict[str, dict[str, Any]] = {}
        while len(found) < count:
            text, expected = self.make(drawn)
            found.setdefault(text, expected)
        return list(found.items())


def filled(drawn: random.Random, text: str) -> str:
    """Return a sentence with its gaps filled."""
    name = drawn.choice(NAMES)
    user = name.split()[0].lower() + str(drawn.randint(1, 99))
    return text.format(
        a=drawn.randint(12, 98), b=drawn.randint(3, 20), name=name, user=user, mail=f"{user}@example.org",
        day=drawn.choice(DAYS), city=drawn.choice(CITIES), word=drawn.choice(WORDS), firm=drawn.choice(FIRMS),
        thing=drawn.choice(THINGS), month=drawn.choice(MONTHS),
    )  # fmt: skip


def chosen(key: str, known: Mapping[str, tuple[str, ...]]) -> Callable[[random.Random], Case]:
    """Return the maker of cases that are sorted by what they ask for."""

    def make(drawn: random.Random) -> Case:
        value = drawn.choice(list(known))
        return filled(drawn, drawn.choice(known[value])), {key: value}

    return make


def invoice(drawn: random.Random) -> Case:
    """Return an invoice in one of three forms."""
    firm, number, cents = drawn.choice(FIRMS), f"{drawn.choice('ABKR')}-{drawn.randint(1000, 9999)}", drawn.randint(1000, 99999)
    currency, day = drawn.choice([("EUR", "€"), ("USD", "$"), ("GBP", "£"), ("CHF", "CHF ")]), drawn.randint(1, 28)
    total = f"{currency[1]}{cents / 100:.2f}"
    form = drawn.choice(
        [
            "Invoice {number} from {firm}. Amount due: {total}, payable by {day} {month} 2026.",
            "{firm} - your bill no. {number}. Thank you for your order! Please pay {total} until {day} {month} 2026.",
            "Dear customer, enclosed is invoice {number}. Total {total}. Kind regards, {firm}. Due on {day} {month} 2026.",
        ]
    )
    text = form.format(number=number, firm=firm, total=total, day=day, month=drawn.choice(MONTHS))
    return text, {"seller": firm, "number": number, "total": cents / 100, "currency": currency[0]}


def contact(drawn: random.Random) -> Case:
    """Return the end of a letter with an address."""
    name, firm = drawn.choice(NAMES), drawn.choice(FIRMS)
    mail = f"{name.split()[0].lower()}@{firm.split()[0].lower()}.example"
    phone = f"+{drawn.choice([1, 33, 44, 49])} {drawn.randint(20, 99)} {drawn.randint(100000, 999999)}"
    form = drawn.choice(
        [
            "Best wishes\n{name}\n{firm}\n{mail} | {phone}",
            "Call me on {phone} or write to {mail}. {name}, {firm}",
            "Hi, this is {name} from {firm}. My number is {phone}, my address {mail}.",
        ]
    )
    return form.format(name=name, firm=firm, mail=mail, phone=phone), {
        "name": name,
        "company": firm,
        "email": mail,
        "phone": phone,
    }


def order(drawn: random.Random) -> Case:
    """Return an order of one to three kinds of goods."""
    name, goods = drawn.choice(NAMES), drawn.sample(GOODS, drawn.randint(1, 3))
    items = [{"product": product, "count": drawn.randint(2, 40)} for product in goods]
    said = [f"{item['count']} {item['product']}" for item in items]
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    city = drawn.choice(CITIES)
    form = drawn.choice(
        [
            "Please send {listed} to {name} in {city}.",
            "{name} here, {city}. I need {listed}.",
            "Order for {name}: {listed}. Ship to {city}.",
        ]
    )
    return form.format(listed=listed, name=name, city=city), {"customer": {"name": name, "city": city}, "items": items}


def meeting(drawn: random.Random) -> Case:
    """Return an invitation."""
    name, day, hour, minute = drawn.choice(NAMES), drawn.choice(DAYS), drawn.randint(8, 17), drawn.choice([0, 15, 30, 45])
    form = drawn.choice(
        [
            "Let us meet {name} on {day} at {hour}:{minute:02}.",
            "{name} can only do {day}, {hour}:{minute:02} sharp.",
            "Not before {day}! {name} will be there from {hour}:{minute:02}.",
        ]
    )
    text = form.format(name=name, day=day, hour=hour, minute=minute)
    return text, {"weekday": day, "hour": hour, "minute": minute, "guest": name}


def parts(make: Callable[[random.Random], Case], *keys: str) -> Callable[[random.Random], Case]:
    """Return the maker of the same cases where only some members are asked for."""

    def some(drawn: random.Random) -> Case:
        said, value = make(drawn)
        return said, {key: value[key] for key in keys}

    return some


def line_of_order(drawn: random.Random) -> Case:
    """Return an order of one product."""
    name, city, product, count = drawn.choice(NAMES), drawn.choice(CITIES), drawn.choice(GOODS), drawn.randint(2, 40)
    form = drawn.choice(
        [
            "Please send {count} {product} to {name} in {city}.",
            "{name} here, {city}. I need {count} {product}.",
            "Order of {day} for {name}: {product}, {count} pieces. Ship to {city}.",
        ]
    )
    said = form.format(count=count, product=product, name=name, city=city, day=drawn.choice(DAYS))
    return said, {"product": product, "count": count}


def task(
    title: str,
    said: str,
    properties: dict[str, Any],
    wordings: tuple[str, ...],
    make: Callable[[random.Random], Case] | None,
    **keys: tuple[str, ...],
) -> Task:
    """Return a task, each of whose properties is required."""
    schema = {"title": title, "description": said, "type": "object", "properties": properties, "required": [*properties]}
    return Task(title.lower(), schema, wordings, make, keys)


def text(said: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a text of 60 letters at most."""
    return {"type": "string", "description": said, "maxLength": 60, **more}


LANGUAGES = json.loads((Path(__file__).parent / "languages.json").read_text(encoding="utf-8"))
"""Sentences by the language that they are written in."""
TASKS = [
    task(
        "Language", "Name the language of the text.",
        {"language": {"enum": sorted(LANGUAGES), "description": "The language that the text is written in."}},
        ("In which language is this text written?", "Identify the language. Answer with its English name."), None,
        language=("The English name of the language of the text.", "The language, judged by its words and letters."),
    ),
    task(
        "Invoice", "Extract the data of the invoice.",
        {
            "seller": text("The company that wants the money."), "number": text("The number of the invoice."),
            "total": {"type": "number", "description": "The amount to pay, without the currency."},
            "currency": {"enum": ["EUR", "USD", "GBP", "CHF"], "description": "The currency of the amount."},
        },
        ("Read the invoice and copy its data.", "Which company wants how much money, and for which invoice?"), invoice,
    ),
    task(
        "Contact", "Extract the contact data of the writer.",
        {
            "name": text("First and last name."), "company": text("The company of the writer."),
            "email": text("The e-mail address."), "phone": text("The telephone number, as it is written."),
        },
        ("Copy name, company, e-mail address and telephone number.", "Who wrote this, and how can they be reached?"),
        contact,
    ),
    task(
        "Tool", "Choose the tool that can answer the request.",
        {"tool": {"enum": [*TOOLS], "description": "The tool for the request."}},
        ("Which tool does the assistant need for this request?", "Pick the one tool that fits what the user asks."),
        chosen("tool", TOOLS),
        tool=(
            "calculator for sums, calendar for meetings, weather for rain or cold, translator for words, web_search for facts.",
            "The name of the tool that answers the request.",
        ),
    ),
    task(
        "Order", "Extract the order.",
        {
            "customer": {
                "type": "object", "description": "Who gets the goods.", "required": ["name", "city"],
                "properties": {"name": text("First and last name."), "city": text("The city.")},
            },
            "items": {
                "type": "array", "description": "The goods, in the order of the text.", "minItems": 1, "maxItems": 5,
                "items": {
                    "type": "object", "required": ["product", "count"],
                    "properties": {
                        "product": text("The kind of goods."),
                        "count": {"type": "integer", "description": "How many."},
                    },
                },
            },
        },
        ("Write down who orders what.", "List the customer and each product with its number."), order,
    ),
    task(
        "Mood", "Say what mood the tweet is in.",
        {"mood": {"enum": ["positive", "negative"], "description": "How the writer feels."}},
        ("Is the writer of this tweet happy or unhappy?", "Classify the sentiment of the tweet."), None,
        mood=("positive if the writer likes something or is happy, negative if not.", "The sentiment of the tweet."),
    ),
    task(
        "Ticket", "Choose the department for the letter of a customer.",
        {"department": {"enum": [*TICKETS], "description": "The department that can help."}},
        ("Which department should answer this customer?", "Sort the message by its topic."), chosen("department", TICKETS),
        department=(
            "billing for money, delivery for parcels on their way, returns for goods to send back, account for log-in and data.",
            "The topic of the message.",
        ),
    ),
    task(
        "Meeting", "Extract the date of the meeting.",
        {
            "weekday": {"enum": [*DAYS], "description": "The day of the week."},
            "hour": {"type": "integer", "minimum": 0, "maximum": 23, "description": "The hour."},
            "minute": {"type": "integer", "minimum": 0, "maximum": 59, "description": "The minute."},
            "guest": text("Who comes, first and last name."),
        },
        ("When does the meeting take place, and with whom?", "Copy weekday, hour, minute and guest from the text."), meeting,
    ),
    task(
        "Currency", "Name the currency of the invoice.",
        {"currency": {"enum": ["EUR", "USD", "GBP", "CHF"], "description": "The currency of the amount."}},
        ("In which currency is the amount?", "Look at the sign before the amount, and name its currency."),
        parts(invoice, "currency"),
        currency=("EUR for €, USD for $, GBP for £, CHF for CHF.", "The code of the currency that is to be paid."),
    ),
    task(
        "Appointment", "Extract the time of the meeting.",
        {
            "weekday": {"enum": [*DAYS], "description": "The day of the week."},
            "hour": {"type": "integer", "minimum": 0, "maximum": 23, "description": "The hour."},
        },
        ("On which day and at which hour is the meeting?", "Copy weekday and hour from the text."),
        parts(meeting, "weekday", "hour"),
        weekday=("The weekday that the text names.",),
        hour=("The number before the colon.", "The hour of the day, without minutes."),
    ),
    task(
        "Sender", "Extract name and address of the writer.",
        {"name": text("First and last name."), "email": text("The e-mail address.")},
        ("Who wrote this, and at which e-mail address?", "Copy the name of the person and the e-mail address."),
        parts(contact, "name", "email"),
        name=("The person, not the company.", "First and last name of the person, as they are written."),
        email=("The address with the @.",),
    ),
    task(
        "Goods", "Extract the order.",
        {"product": text("The kind of goods."), "count": {"type": "integer", "description": "How many."}},
        ("What is ordered, and how many of it?", "Copy the product and its number."), line_of_order,
        product=("The goods, one word.", "What is ordered, without its number."), count=("The number of pieces.",),
    ),
]  # fmt: skip
TUNED = [each for each in TASKS if each.name not in ("invoice", "contact", "order", "meeting")]
"""Tasks with one or two values: a case of `tune` passes only with all of them right, and small models rarely get more right."""

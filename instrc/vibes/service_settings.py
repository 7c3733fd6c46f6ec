"""The settings of a service: roles, groups, who answers which question, and the identity provider."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_network
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct, field

from instrc.problems.suggest import nearest
from instrc.text.durations import is_duration, seconds


class PeopleSettings(Struct, frozen=True):
    """Who answers the questions of a step."""

    candidates: tuple[str, ...] = ("*",)
    """Names, `group:NAME`, or `*` for everybody with the role."""
    due: float | None = None
    """Seconds after which an answer is overdue; this is shown and triggers a reminder."""


class OidcSettings(Struct, frozen=True):
    """The identity provider whose tokens are accepted."""

    issuer: str
    audience: str
    jwks: str
    """URL of its keys, or a file beside the settings."""
    groups: str = "groups"
    """Claim that lists groups."""
    name: str = "sub"
    """Claim that identifies the person."""


class RetentionSettings(Struct, frozen=True):
    """How many seconds things are kept; `None`: for ever."""

    runs: float | None = None
    """Seconds for which runs are kept after they have ended."""
    feed: float | None = None
    """Seconds for which the event feed of runs is kept."""
    idempotency_keys: float | None = None
    links: float | None = None
    """Seconds for which the use of signed links is recorded; longer than links are valid."""
    messages: float | None = 30 * 86400.0
    """Seconds for which webhook messages are kept, with their delivery state."""
    audit: float | None = None


LEAST_LINKS: Final = 7 * 86400
"""Minimum retention in seconds: a link is valid as long, and works once while its use is recorded."""


class ServiceSettings(Struct, frozen=True):
    """The settings of the service of a project."""

    roles: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """Names and `group:NAME` by program (`*` for all) and role."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Groups defined by the project, in addition to those of tokens and keys."""
    people: Mapping[str, PeopleSettings] = field(default_factory=dict)
    """Settings by `PROGRAM.STEP`, `STEP`, `PROGRAM.*` or `*`."""
    hosts: tuple[str, ...] = ()
    """Host names of the service, in addition to those of this machine."""
    oidc: OidcSettings | None = None
    claim: float = 1800.0
    """Duration of a claim, in seconds."""
    rate: int = 120
    """Maximum starts and answers per caller and minute."""
    streams: int = 20
    """Maximum open event streams per caller."""
    body: int = 1024 * 1024
    """Maximum size of a request, in bytes."""
    proxies: tuple[str, ...] = ()
    """Addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted; other senders' are ignored."""
    networks: tuple[str, ...] = ()
    """Private networks to which webhooks may be sent, such as `10.1.0.0/16`."""
    url: str | None = None
    """Public URL of the service; links begin with it."""
    allow_fork_person_steps: bool = False
    """Whether a fork may `set` the answer of a person."""
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    language: str | None = None
    """Language of the pages for people, one of `LANGUAGES`; `None` for that of the browser."""
    zone: str = "UTC"
    """Time zone of the pages for people, such as `Europe/Berlin`."""

    def people_of(self, program: str, step: Sequence[str]) -> PeopleSettings:
        """Return the most specific entry for a step, which may be spelled in several ways."""
        names = (*(f"{program}.{each}" for each in step), *step, f"{program}.*", "*")
        return next((self.people[name] for name in names if name in self.people), PeopleSettings())


Wrong: TypeAlias = Callable[..., None]
"""Reports an invalid setting: its name, the reason, and similar names."""
Role: TypeAlias = Literal["viewer", "starter", "answerer", "operator", "author", "admin"]
"""What a caller may do with a program: view its runs, start, answer, operate, edit it, or all of these."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)


def service_settings(serve: object, people: object, wrong: Wrong) -> ServiceSettings:
    """Read the tables `serve` and `people`; report to `wrong` what cannot be used."""
    table = _table("serve", serve, wrong)
    known = tuple(name.replace("_", "-") for name in ServiceSettings.__struct_fields__ if name != "people")
    _refuse_unknown("serve", table, known, wrong)
    roles: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for program, given in _table("serve.roles", table.get("roles", {}), wrong).items():
        held = _table(f"serve.roles.{program}", given, wrong)
        _refuse_unknown(f"serve.roles.{program}", held, ROLES, wrong, "role")
        roles[program] = {role: _texts(f"serve.roles.{program}.{role}", names, wrong) for role, names in held.items()}
    groups = {
        name: _texts(f"serve.groups.{name}", given, wrong)
        for name, given in _table("serve.groups", table.get("groups", {}), wrong).items()
    }
    claim = _seconds("serve.claim", table.get("claim", "PT30M"), wrong)
    numbers = {key: _whole(f"serve.{key}", table[key], wrong) for key in ("rate", "streams", "body") if key in table}
    return ServiceSettings(
        roles=roles,
        groups=groups,
        people=_people(people, wrong),
        hosts=_texts("serve.hosts", table.get("hosts", []), wrong),
        oidc=_oidc(table["oidc"], wrong) if "oidc" in table else None,
        claim=claim or ServiceSettings().claim,
        proxies=_texts("serve.proxies", table.get("proxies", []), wrong),
        networks=_networks(table.get("networks", []), wrong),
        url=_url(table["url"], wrong) if "url" in table else None,
        retention=_retention(table.get("retention", {}), wrong),
        language=_language(table["language"], wrong) if "language" in table else None,
        zone=_zone(table.get("zone", "UTC"), wrong),
        allow_fork_person_steps=_truth("serve.allow-fork-person-steps", table.get("allow-fork-person-steps", False), wrong),
        **numbers,
    )


def _table(name: str, given: object, wrong: Wrong) -> dict[str, object]:
    if isinstance(given, dict):
        return given
    wrong(name, "it must be a table", word=name.rpartition(".")[2])
    return {}


def _refuse_unknown(name: str, table: Mapping[str, object], known: tuple[str, ...], wrong: Wrong, what: str = "setting") -> None:
    for key in table:
        if key not in known:
            wrong(f"{name}.{key}", f"there is no such {what}", nearest(key, known), word=key)


def _texts(name: str, given: object, wrong: Wrong) -> tuple[str, ...]:
    if isinstance(given, list) and all(isinstance(each, str) and each for each in given):
        return tuple(given)
    wrong(name, "it must be a list of names", word=name.rpartition(".")[2])
    return ()


def _seconds(name: str, given: object, wrong: Wrong) -> float | None:
    if isinstance(given, str) and is_duration(given) and re.search("[1-9]", given):
        return seconds(given)
    wrong(name, "it must be a time span, as `P2D` or `PT30M`", word=name.rpartition(".")[2])
    return None


def _truth(name: str, given: object, wrong: Wrong) -> bool:
    if not isinstance(given, bool):
        wrong(name, "it must be `true` or `false`", word=name.rpartition(".")[2])
    return given is True


def _whole(name: str, given: object, wrong: Wrong) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and given >= 1:
        return given
    wrong(name, "it must be a whole number from 1", word=name.rpartition(".")[2])
    return 1


def _people(given: object, wrong: Wrong) -> dict[str, PeopleSettings]:
    found: dict[str, PeopleSettings] = {}
    for step, said in _table("people", given, wrong).items():
        table = _table(f"people.{step}", said, wrong)
        _refuse_unknown(f"people.{step}", table, PeopleSettings.__struct_fields__, wrong)
        candidates = _texts(f"people.{step}.candidates", table.get("candidates", ["*"]), wrong)
        due = _seconds(f"people.{step}.due", table["due"], wrong) if "due" in table else None
        found[step] = PeopleSettings(candidates, due)
    return found


def _oidc(given: object, wrong: Wrong) -> OidcSettings | None:
    table = _table("serve.oidc", given, wrong)
    _refuse_unknown("serve.oidc", table, OidcSettings.__struct_fields__, wrong)
    texts = {key: value for key, value in table.items() if isinstance(value, str) and value}
    for key in table.keys() - texts.keys():
        wrong(f"serve.oidc.{key}", "it must be a text", word=key)
    missing = [key for key in ("issuer", "audience", "jwks") if key not in table]
    if missing:
        wrong("serve.oidc", f"it needs {', '.join(f'`{key}`' for key in missing)}", word="oidc")
        return None
    return OidcSettings(**texts) if texts.keys() == table.keys() and texts.keys() <= {*OidcSettings.__struct_fields__} else None


def _retention(given: object, wrong: Wrong) -> RetentionSettings:
    table = _table("serve.retention", given, wrong)
    known = tuple(name.replace("_", "-") for name in RetentionSettings.__struct_fields__)
    _refuse_unknown("serve.retention", table, known, wrong)
    spans = {key.replace("-", "_"): _seconds(f"serve.retention.{key}", table[key], wrong) for key in known if key in table}
    if (links := spans.get("links")) is not None and links <= LEAST_LINKS:
        wrong("serve.retention.links", "it must be longer than links are valid, which is `P7D`", word="links")
    return RetentionSettings(**spans)


def _networks(given: object, wrong: Wrong) -> tuple[str, ...]:
    found = _texts("serve.networks", given, wrong)
    for each in found:
        try:
            ip_network(each)
        except ValueError as error:
            wrong("serve.networks", f"{error}; write a network as `10.1.0.0/16`", word=each)
            return ()
    return found


def _url(given: object, wrong: Wrong) -> str | None:
    if isinstance(given, str) and re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", given):
        return given.rstrip("/")
    wrong("serve.url", "it must be the URL of the service, as `https://desk.example.com`", word="url")
    return None


LANGUAGES: Final = ("en", "ru")
"""Languages of the pages for people."""


def _zone(given: object, wrong: Wrong) -> str:
    from zoneinfo import ZoneInfo  # few settings have one

    try:
        return ZoneInfo(str(given)).key
    except (LookupError, ValueError, OSError):  # it has no zone of the name, or the name leads out of its folder
        wrong("serve.zone", "it must be a time zone, for example `Europe/Berlin`", word="zone")
        return "UTC"


def _language(given: object, wrong: Wrong) -> str | None:
    if isinstance(given, str) and given in LANGUAGES:
        return given
    known = " or ".join(f"`{each}`" for each in LANGUAGES)
    wrong("serve.language", f"it must be {known}; without it, each page is in the language of its reader", word="language")
    return None

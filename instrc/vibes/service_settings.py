"""The settings of a service: roles, groups, who answers which question, and the identity provider."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_network
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from msgspec import Struct, field

from instrc.process.request_settings import TRUTH, WHOLE, Kind, kinds_of, one_of, read_values
from instrc.text.durations import is_duration, seconds


def _names(value: object) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and all(isinstance(each, str) and each for each in value) else None


def _span(value: object) -> float | None:
    return seconds(value) if isinstance(value, str) and is_duration(value) and re.search("[1-9]", value) else None


def _link_span(value: object) -> float | None:
    span = _span(value)
    return span if span is not None and span > LEAST_LINKS else None


def _networks(value: object) -> tuple[str, ...] | None:
    names = _names(value)
    try:
        for name in names or ():
            ip_network(name)
    except ValueError:
        return None
    return names


def _url(value: object) -> object:
    return value.rstrip("/") if isinstance(value, str) and re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", value) else None


def _zone(value: object) -> object:
    from zoneinfo import ZoneInfo  # rarely needed

    try:
        return ZoneInfo(str(value)).key
    except (LookupError, ValueError, OSError):  # there is no such zone, or the name leads out of its folder
        return None


LEAST_LINKS: Final = 7 * 86400
"""Minimum retention in seconds: a link is valid as long, and works once while its use is recorded."""
LANGUAGES: Final = ("en", "ru")
"""Languages of the pages for people."""
TABLE: Final = Kind(lambda value: value if isinstance(value, dict) else None, "it must be a table")
TEXT: Final = Kind(lambda value: value if isinstance(value, str) and value else None, "it must be a text")
NAMES: Final = Kind(_names, "it must be a list of names")
SPAN: Final = Kind(_span, "it must be a time span, such as `P2D` or `PT30M`")
LINK_SPAN: Final = Kind(_link_span, "it must be a time span that is longer than links are valid, which is `P7D`")
NETWORKS: Final = Kind(_networks, "it must be a list of networks, such as `10.1.0.0/16`")
URL: Final = Kind(_url, "it must be the URL of the service, such as `https://desk.example.com`")
ZONE: Final = Kind(_zone, "it must be a time zone, for example `Europe/Berlin`")

LANGUAGE: Final = Kind(
    lambda value: value if isinstance(value, str) and re.fullmatch("[a-z]{2,8}", value) else None,
    f"{one_of(LANGUAGES).reason}, or of the file `words`; without it, each page is in the language of its reader",
)


class PeopleSettings(Struct, frozen=True):
    """Who answers the questions of a step."""

    candidates: Annotated[tuple[str, ...], NAMES] = ("*",)
    """Names, `group:NAME`, or `*` for everybody with the role."""
    due: Annotated[float | None, SPAN] = None
    """Seconds after which an answer is overdue; this is shown and triggers a reminder."""


class OidcSettings(Struct, frozen=True):
    """The identity provider whose tokens are accepted."""

    issuer: Annotated[str, TEXT]
    audience: Annotated[str, TEXT]
    jwks: Annotated[str, TEXT]
    """URL of its keys, or a file next to the settings."""
    groups: Annotated[str, TEXT] = "groups"
    """Claim that lists groups."""
    name: Annotated[str, TEXT] = "sub"
    """Claim that identifies the person."""


class RetentionSettings(Struct, frozen=True):
    """Retention periods in seconds; `None`: for ever."""

    runs: Annotated[float | None, SPAN] = None
    """Seconds for which runs are kept after they have ended."""
    feed: Annotated[float | None, SPAN] = None
    """Seconds for which the event feed of runs is kept."""
    idempotency_keys: Annotated[float | None, SPAN] = None
    links: Annotated[float | None, LINK_SPAN] = None
    """Seconds for which the use of signed links is recorded; longer than links are valid."""
    messages: Annotated[float | None, SPAN] = 30 * 86400.0
    """Seconds for which webhook messages are kept, with their delivery state."""
    audit: Annotated[float | None, SPAN] = None


class ServiceSettings(Struct, frozen=True):
    """The settings of the service of a project."""

    roles: Annotated[Mapping[str, Mapping[str, tuple[str, ...]]], TABLE] = field(default_factory=dict)
    """Names and `group:NAME` by program (`*` for all) and role."""
    groups: Annotated[Mapping[str, tuple[str, ...]], TABLE] = field(default_factory=dict)
    """Groups defined by the project, in addition to those of tokens and keys."""
    people: Mapping[str, PeopleSettings] = field(default_factory=dict)
    """Settings by `PROGRAM.STEP`, `STEP`, `PROGRAM.*` or `*`."""
    hosts: Annotated[tuple[str, ...], NAMES] = ()
    """Host names of the service, in addition to those of this machine."""
    oidc: Annotated[OidcSettings | None, TABLE] = None
    claim: Annotated[float, SPAN] = 1800.0
    """Duration of a claim, in seconds."""
    rate: Annotated[int, WHOLE] = 120
    """Maximum starts, forks, retries, answers and push settings per caller and minute."""
    streams: Annotated[int, WHOLE] = 20
    """Maximum open event streams and waiting requests per caller."""
    body: Annotated[int, WHOLE] = 1024 * 1024
    """Maximum size of a request, in bytes."""
    proxies: Annotated[tuple[str, ...], NETWORKS] = ()
    """Addresses or networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted, and no others'."""
    networks: Annotated[tuple[str, ...], NETWORKS] = ()
    """Private networks to which webhooks may be sent, such as `10.1.0.0/16`."""
    url: Annotated[str | None, URL] = None
    """Public URL of the service; links begin with it."""
    allow_fork_person_steps: Annotated[bool, TRUTH] = False
    """Whether a fork may `set` the answer of a person."""
    retention: Annotated[RetentionSettings, TABLE] = field(default_factory=RetentionSettings)
    language: Annotated[str | None, LANGUAGE] = None
    """Language of the pages for people, one of `LANGUAGES` or of the file `words`; `None` for that of the browser."""
    words: Annotated[str | None, TEXT] = None
    """TOML file with the texts of the pages in other languages, or with replacements for texts."""
    zone: Annotated[str, ZONE] = "UTC"
    """Time zone of the pages for people, such as `Europe/Berlin`."""

    def people_of(self, program: str, step: Sequence[str]) -> PeopleSettings:
        """Return the most specific entry for a step, whose name may have several spellings."""
        names = (*(f"{program}.{each}" for each in step), *step, f"{program}.*", "*")
        return next((self.people[name] for name in names if name in self.people), PeopleSettings())


Wrong: TypeAlias = Callable[..., None]
"""Reports an invalid setting: its name, the reason, and similar names."""
Role: TypeAlias = Literal["viewer", "starter", "answerer", "operator", "author", "admin"]
"""What a caller may do with a program: view its runs, start, answer, operate, edit it, or all of these."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)


def service_settings(serve: object, people: object, wrong: Wrong) -> ServiceSettings:
    """Read the tables `serve` and `people`; report invalid entries to `wrong`."""
    values = _read("serve", serve, _kinds(ServiceSettings), wrong)
    held = {
        program: _read(f"serve.roles.{program}", given, dict.fromkeys(ROLES, NAMES), wrong, "role")
        for program, given in values.pop("roles", {}).items()
    }
    groups = values.pop("groups", {})
    if "words" not in values and values.get("language", "en") not in LANGUAGES:
        wrong("serve.language", LANGUAGE.reason, word="language")
    return ServiceSettings(
        roles=held,
        groups=_read("serve.groups", groups, dict.fromkeys(groups, NAMES), wrong),
        people={
            step: PeopleSettings(**_read(f"people.{step}", given, _kinds(PeopleSettings), wrong))
            for step, given in _read("people", people, None, wrong).items()
        },
        oidc=_oidc(values.pop("oidc"), wrong) if "oidc" in values else None,
        retention=RetentionSettings(**_read("serve.retention", values.pop("retention", {}), _kinds(RetentionSettings), wrong)),
        **values,
    )


def _kinds(declaration: type) -> dict[str, Kind]:
    return {key.replace("_", "-"): kind for key, kind in kinds_of(declaration).items()}


def _read(
    name: str, given: object, kinds: Mapping[str, Kind] | None, wrong: Wrong, what: str = "setting"
) -> dict[str, Any]:  # each kind checks its own values
    """Return the values of a table by their kinds, all of them without kinds, and report the others."""
    if not isinstance(given, dict):
        wrong(name, TABLE.reason, word=name.rpartition(".")[2])
        return {}
    if kinds is None:
        return given
    values, faults = read_values(kinds, given, f"there is no such {what}")
    for key, reason, close in faults:
        wrong(f"{name}.{key}", reason, close, word=key)
    return {key.replace("-", "_"): value for key, value in values.items()}


def _oidc(given: dict[str, object], wrong: Wrong) -> OidcSettings | None:
    values = _read("serve.oidc", given, _kinds(OidcSettings), wrong)
    if missing := [key for key in ("issuer", "audience", "jwks") if key not in given]:
        wrong("serve.oidc", f"it needs {', '.join(f'`{key}`' for key in missing)}", word="oidc")
    return OidcSettings(**values) if {"issuer", "audience", "jwks"} <= values.keys() else None

"""Authenticate callers: API keys, tokens of an identity provider, page sessions, and signed links to one question."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex, token_urlsafe
from ssl import create_default_context
from time import monotonic, time
from typing import Final, NoReturn, cast
from urllib.parse import urlsplit

import httpx
import jwt
from itsdangerous import BadData, URLSafeTimedSerializer
from itsdangerous.encoding import base64_decode, base64_encode
from msgspec import Struct, structs

from instrc import problems
from instrc.engines.approvals import ALL, ERASED, OUTSIDER, NameRules, known_as, normal_name
from instrc.engines.equip import names_of
from instrc.engines.run_table import storable
from instrc.problems.errors import AuthenticationError, RequestError, unusable
from instrc.server.access import LOCAL, Caller, Means
from instrc.server.bounds import NAME
from instrc.server.records import KeyRow, Records
from instrc.text.jsonvalue import Json, JsonObject, as_object, as_text, as_texts, listing, mapping, optional_text
from instrc.vibes.service_settings import LEAST_LINKS, OidcSettings, Role, ServiceSettings

_LONGEST: Final = 16 * 1024
"""Maximum characters of a token."""


class Signer(Struct):
    """Signs links and forms with the last of its secrets, and accepts signatures of all of them."""

    secrets: list[str]
    store: str = ""
    """Id of the store: services with the same secrets accept nothing from each other."""

    def sign(self, purpose: str, value: Mapping[str, Json]) -> str:
        """Return a signed text that contains a value."""
        return URLSafeTimedSerializer(self.secrets, salt=f"{purpose} {self.store}").dumps(dict(value))

    def read(self, purpose: str, text: str, seconds: int) -> dict[str, Json] | None:
        """Return the value of a signed text, or `None` if it is forged, for another purpose, or too old."""
        if len(text) > _LONGEST:
            return None
        signature = text.rpartition(".")[2]
        try:
            found = URLSafeTimedSerializer(self.secrets, salt=f"{purpose} {self.store}").loads(text, max_age=seconds)
            is_as_signed = base64_encode(base64_decode(signature)).decode() == signature  # other spellings are decoded alike
        except BadData:
            return None
        return found if is_as_signed and isinstance(found, dict) else None


_REFETCH: Final = 60.0
"""Minimum seconds before an identity provider's keys are fetched again for an unknown key id."""
_RENEWED: Final = 300.0
"""Seconds after which keys are refreshed: a key that has been removed is refused."""
_FETCHED_BYTES: Final = 1024 * 1024
_FETCH_SECONDS: Final = 10.0
"""Time limit for the whole answer of an identity provider, which may come a byte at a time."""
_RSA_BITS: Final = 2048
"""Minimum bits of an RSA key: signatures of shorter ones can be forged."""


class ProviderKeys:
    """The keys of an identity provider by id, fetched again for an unknown id."""

    def __init__(self, place: str, folder: Path) -> None:
        parts = urlsplit(place)
        if parts.scheme == "http" and parts.hostname not in {"localhost", "127.0.0.1"}:
            raise unusable("address", place, "keys are fetched over `https`")
        self.place = place
        self.file: Path | None = None if parts.scheme in {"http", "https"} else folder / place
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched: float | None = None
        self._turn = asyncio.Lock()

    async def key(self, name: str) -> jwt.PyJWK | None:
        """Return a key, or `None` for an unknown id; while one caller fetches, others use the keys that are known."""
        if self._is_due(name) or not self._keys:  # the first ones may be on their way
            async with self._turn:
                if self._is_due(name):
                    self._fetched = monotonic()
                    with suppress(OSError, ValueError, RecursionError, httpx.HTTPError, httpx.InvalidURL):
                        self._keys = await asyncio.to_thread(_keys_in, await self._read())  # until then, the previous ones count
        return self._keys.get(name)

    def _is_due(self, name: str) -> bool:
        age = None if self._fetched is None else monotonic() - self._fetched
        return age is None or age > _RENEWED or (age > _REFETCH and name not in self._keys)

    async def _read(self) -> bytes:
        if self.file is not None:
            return await asyncio.to_thread(self.file.read_bytes)
        read, client = b"", httpx.AsyncClient(verify=create_default_context())
        async with asyncio.timeout(_FETCH_SECONDS), client as http, http.stream("GET", self.place) as answer:
            async for part in answer.raise_for_status().aiter_bytes():
                read += part[: _FETCHED_BYTES - len(read)]
        return read


def _keys_in(text: bytes) -> dict[str, jwt.PyJWK]:
    """Return the keys of a document by their ids; raise `ValueError` for one that is no JSON."""
    found: dict[str, jwt.PyJWK] = {}
    for each in listing(mapping(cast("Json", json.loads(text))).get("keys")):
        try:
            said, key = as_object(each), jwt.PyJWK(as_object(each))
        except Exception:  # noqa: BLE001, S112  -- of an unknown kind, which the library reports by errors of many classes
            continue
        if said.get("use", "sig") == "sig" and (key.key_type != "RSA" or key.key.key_size >= _RSA_BITS):
            found[_key_id(said.get("kid"))] = found[_thumbprint(key)] = key
    return found


_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Public-key signature algorithms: with a shared-key one, anyone who knows the public key could sign."""
_LEEWAY: Final = 30
COOKIE: Final = "__Host-instrc"
SESSION_SECONDS: Final = 12 * 3600


class Identity(Struct, frozen=True):
    """Authenticates requests by their headers."""

    records: Records
    settings: ServiceSettings
    signer: Signer
    keys: ProviderKeys | None = None

    @property
    def is_on(self) -> bool:
        """Whether callers are authenticated: there is an identity provider, or there is or was an API key."""
        return self.settings.oidc is not None or self.records.requires_keys()

    async def __call__(self, headers: Mapping[str, str]) -> Caller | None:
        """Return the caller, or `None` if the request is anonymous; raise `NotAuthenticated` for invalid credentials."""
        given = headers.get("authorization")
        if given is not None:
            scheme, _, word = given.partition(" ")
            if scheme.lower() != "bearer" or not word.strip():
                refuse_unknown("`Authorization` is `Bearer`, and a key or a token")
            return await self.bearer(word.strip())
        cookie = headers.get("cookie", "")  # without ours, no thread is waited for: all may be busy
        caller = await asyncio.to_thread(self._of_session, cookie) if COOKIE in cookie else None
        if caller is not None and caller.name.startswith("oidc:"):  # as a token, it ends with the key that signed it
            known = self.keys is not None and await self.keys.key(caller.key or "") is not None
            return caller if known and is_known(self.settings, self.records, caller.name) else None
        return caller

    async def once_on(self, headers: Mapping[str, str]) -> Caller | None:
        """Return the caller, who is the local user until there is a first key."""
        return await self(headers) if await asyncio.to_thread(lambda: self.is_on) else LOCAL

    async def bearer(self, word: str) -> Caller:
        """Return the owner of a key or token."""
        if len(word) > _LONGEST:
            refuse_unknown("the token is too long")
        if word.startswith("ik_"):
            return await asyncio.to_thread(self._of_key, word)
        if self.settings.oidc is None:
            refuse_unknown("the key is not one of this service")
        return await self._of_token(word, self.settings.oidc)

    def new_key(self, name: str, roles: Iterable[str] = (), groups: Iterable[str] = (), expires: float | None = None) -> str:
        """Return a new key, stored only as a digest; roles are `ROLE` for all programs, or `PROGRAM:ROLE`."""
        name = normal_name(name)
        if not name or _is_reserved(name) or NameRules().read(name) != (name,):
            raise unusable("name of a key", name, "it is empty or reserved, as are `group:…`, `oidc:…`, `key:…` and `link:…`")
        ident, secret = token_hex(6), token_urlsafe(32)
        word = f"ik_{ident}_{secret}"
        self.records.add_key(ident, _digest(word), name, [*roles], [*map(normal_name, groups)], expires)
        return word

    def _of_key(self, word: str) -> Caller:
        rows = self.records.key(word.split("_")[1])
        if not rows or not hmac.compare_digest(rows[0].hash, _digest(word)):
            refuse_unknown("the key is not one of this service, or has expired")
        return self._of_row("key", *rows)

    def _of_row(self, by: Means, row: KeyRow, *others: KeyRow) -> Caller:
        name = normal_name(row.name)
        if _is_reserved(name):
            refuse_unknown("the key has a name that is not one of a key")
        known = _caller(self.settings, self.records, by, name, row.groups, row.roles)
        barred = frozenset(group for each in others for group in each.groups)
        return structs.replace(known, key=row.id, until=row.expires, barred=barred)

    async def _of_token(self, word: str, oidc: OidcSettings) -> Caller:
        assert self.keys is not None
        try:
            key = await self.keys.key(_key_id(jwt.get_unverified_header(word).get("kid")))
            if key is None or key.algorithm_name not in _ALGORITHMS:
                refuse_unknown("the token is signed with a key that the identity provider does not name")
            claims = jwt.decode(
                word,
                key,
                algorithms=[key.algorithm_name],
                audience=oidc.audience,
                issuer=oidc.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
            until = float(claims["exp"])
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
            refuse_unknown(_said(error))
        name, said = claims.get(oidc.name), {**claims, **mapping(claims.get("_claim_names"))}  # of what is elsewhere, the place
        groups = [] if said.get(oidc.groups) is None else said[oidc.groups]
        if not isinstance(name, str) or not name:
            refuse_unknown(f"the token has no `{oidc.name}`")
        if name != normal_name(name) or len(name) > NAME:  # two subjects would have one name, or an index none
            refuse_unknown(f"`{oidc.name}` of the token is too long, or has characters by which names are not told apart")
        if name == claims.get("email") and str(claims.get("email_verified", True)).lower() != "true":
            refuse_unknown("the identity provider has not verified the `email` of the token")
        if not isinstance(groups, list) or any(not isinstance(each, str) or storable(each) != each for each in groups):
            refuse_unknown(f"`{oidc.groups}` of the token is not a list of texts")  # a rule might exclude one of its groups
        who = f"oidc:{oidc.issuer}#{name}"
        caller = await asyncio.to_thread(_caller, self.settings, self.records, "token", who, groups)
        return structs.replace(caller, key=_thumbprint(key), until=until)

    def session(self, caller: Caller) -> str:
        """Return the `Set-Cookie` header of a session for a caller with a key or token.

        The session ends with these, and on logout, whatever the browser keeps.
        """
        secret = token_urlsafe(32)
        self.records.add_session(_digest(secret), caller.name, sorted(caller.stated), caller.key, _kept_until(caller))
        return f"{COOKIE}={secret}; Path=/; Max-Age={SESSION_SECONDS}; HttpOnly; Secure; SameSite=Lax"

    def end_session(self, header: str) -> str:
        """End the session in a `Cookie` header; return the header that deletes the cookie."""
        if (secret := cookie_in(header, COOKIE)) is not None:
            self.records.end_session(_digest(secret))
        return f"{COOKIE}=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax"

    def _of_session(self, header: str) -> Caller | None:
        secret = cookie_in(header, COOKIE)
        session = None if secret is None else self.records.session(_digest(secret))
        if session is None:
            return None
        if session.name.startswith("oidc:"):
            known = _caller(self.settings, self.records, "cookie", session.name, session.groups)
            return structs.replace(known, key=session.key, until=session.expires)
        rows = self.records.key(session.key)
        return self._of_row("cookie", *rows) if rows else None


def cookie_in(header: str, name: str) -> str | None:
    """Return a cookie in a `Cookie` header, or `None` if it is missing, or there are several.

    Only semicolons separate cookies: another site of the domain may set one with spaces and quotes in its value.
    It may set none that begins with `__Host-`.
    """
    pairs = [part.strip().partition("=") for part in header[:_LONGEST].split(";")]
    found = [value for key, _, value in pairs if key == name]
    return found[0] if len(found) == 1 else None


def kept_rights(caller: Caller) -> JsonObject:
    """Return the rights of a caller in a form to store with later work."""
    return {"by": caller.by, "key": caller.key, "until": _kept_until(caller), "groups": [*sorted(caller.stated)]}


def _kept_until(caller: Caller) -> float:
    """Return when the statements of a token stop counting without it: a stolen key could sign any expiry time."""
    longest = time() + SESSION_SECONDS
    return min(longest, caller.until or longest)


def caller_later(settings: ServiceSettings, records: Records, name: str, kept: JsonObject) -> Caller | None:
    """Return the owner of later work with their current rights, or `None` if their key was revoked.

    Groups known only from a token expire with that token, and all rights if the settings name another identity provider.
    """
    if kept.get("by") == "local":
        return None if settings.oidc is not None or records.requires_keys() else LOCAL
    if name.startswith("oidc:"):
        until = kept.get("until")
        groups = as_texts(kept["groups"]) if isinstance(until, int | float) and until >= time() else []
        return _caller(settings, records, "token", name, groups) if is_known(settings, records, name) else None
    row = next(iter(records.key(str(kept.get("key")))), None)
    if row is None or normal_name(row.name) != name:
        return None
    return _caller(settings, records, "key", name, row.groups, row.roles)


def is_known(settings: ServiceSettings, records: Records, name: str, key: str | None = None) -> bool:
    """Return whether a name is that of a caller now: a subject of the identity provider, or the owner of a valid key (`key`).

    Without authentication, it is the local user; in a store that never had a key, others are authenticated by other means.
    """
    if name.startswith("oidc:"):
        return settings.oidc is not None and name.startswith(f"oidc:{settings.oidc.issuer}#")
    if key is not None:
        return any(row.id == key for row in records.keys_of(name))
    return bool(records.keys_of(name)) or not (records.requires_keys() or (name == LOCAL.name and settings.oidc is not None))


def known_person(settings: ServiceSettings, records: Records, word: str) -> Caller:
    """Return a person by name, such as the bearer of a link, with the groups and roles of settings and keys.

    Groups of a token are unknown without it; an ambiguous name matches no person.
    """
    found = names_of(settings, records.has_keys).read(word)
    if len(found) != 1 or not 0 < len(found[0]) <= NAME or found[0].startswith("group:") or found[0] == ALL:
        reason = f"`{word[:80]}` is not the name of one person: write `key:NAME` or `oidc:ISSUER#SUBJECT`"
        raise RequestError([problems.serving.InvalidRequest(reason=reason, pointer="/to")])
    name = known_as(found[0])
    keys = records.keys_of(name)
    groups, roles = [each for row in keys for each in row.groups], [each for row in keys for each in row.roles]
    return structs.replace(_caller(settings, records, "link", name, groups, roles), name=found[0])


def _caller(
    settings: ServiceSettings, records: Records, by: Means, name: str, groups: Iterable[str], roles: Iterable[str] = ()
) -> Caller:
    """Return a caller with the given groups and roles, and those of the settings.

    A group of a token grants nothing to another spelling: an identity provider may let anybody create it.
    """
    names = names_of(settings, records.has_keys)
    known = frozenset({*groups, *(normal_name(each) for each, who in settings.groups.items() if name in names.clear(who))} - {""})
    words = {name, ALL, *(f"group:{group}" for group in known)}
    held = [(at, role) for at, people in settings.roles.items() for role, who in people.items() if words & {*names.clear(who)}]
    held += [(said.rpartition(":")[0] or ALL, said.rpartition(":")[2]) for said in roles]
    roles_at = {at: frozenset(cast("Role", role) for each, role in held if each == at) for at, _ in held}
    return Caller(name, known, roles_at, by, stated=frozenset(groups))


def _is_reserved(name: str) -> bool:
    return name in {ALL, LOCAL.name} or name.startswith(("group:", "oidc:", "key:", OUTSIDER, ERASED))


def _key_id(kid: object) -> str:
    """Return the id under which a key of an identity provider is stored, whose own id may have any length."""
    return _digest(ascii(str(kid or "")))[:32]


def _thumbprint(key: jwt.PyJWK) -> str:
    """Return an id that no other key has: a provider may reuse its `kid`, or give none."""
    return _key_id([key.key_id, *key.Algorithm.to_jwk(key.key, as_dict=True).items()])


def _digest(word: str) -> str:
    return sha256(word.encode()).hexdigest()


def _said(error: Exception) -> str:
    said: dict[type[Exception], str] = {
        jwt.ExpiredSignatureError: "the token has expired",
        jwt.InvalidAudienceError: "the token is for another service",
        jwt.InvalidIssuerError: "the token is from another identity provider",
    }
    return said.get(type(error), "the token does not hold")


def refuse_unknown(reason: str) -> NoReturn:
    """Raise for an unauthenticated request."""
    raise AuthenticationError([problems.serving.NotAuthenticated(reason=reason)]) from None


def link_word(signer: Signer, run: str, question: str, to: str, sender: Caller) -> str:
    """Return the token of a link, asked for by `sender`, by which a person may see and answer one question."""
    name = to if _is_reserved(to) else f"key:{to}"  # which the settings cannot give another meaning
    by: JsonObject = {"by": sender.name, "key": sender.key, "nonce": token_urlsafe(12)}
    return signer.sign("question", {"run": run, "question": question, "for": name, **by})


def read_link(signer: Signer, word: str) -> Caller:
    """Return the bearer of a link; raise `NotAuthenticated` if it is forged or too old."""
    value = signer.read("question", word, LEAST_LINKS)
    if value is None:
        refuse_unknown("the link is not one of this service, or has expired")
    only = (as_text(value["run"]), as_text(value["question"]))
    sender, key = optional_text(value.get("by")), optional_text(value.get("key"))
    return Caller(as_text(value["for"]), by="link", only=only, nonce=as_text(value["nonce"]), sender=sender, key=key)

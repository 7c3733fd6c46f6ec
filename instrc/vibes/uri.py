"""The grammar of `aug:` references, and the errors of their targets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias
from unicodedata import normalize

from msgspec import Struct

from instrc import problems
from instrc.problems.errors import CompileError
from instrc.text.source import Source, Span

SHOWN_REFERENCE: Final = 100
"""Maximum characters of a reference shown in an error."""
REFERENCE_LENGTH: Final = 4096
"""Maximum characters of a reference."""


def short(text: str) -> str:
    """Return a text shortened for a message."""
    return text if len(text) <= SHOWN_REFERENCE else text[: SHOWN_REFERENCE - 1] + "…"


def forbidden(reference: str, reason: str, at: Span | None) -> CompileError:
    """Return the error for a reference that could lead out of the registry."""
    return CompileError([problems.vibes.ForbiddenReference(at=at, reference=short(reference), reason=reason)])


def leads_outside(reference: str, at: Span | None) -> CompileError:
    """Return the error for a reference whose path passes through a link that leaves the roots."""
    return forbidden(reference, "a link on its path leads out of the roots", at)


def malformed(reference: str, reason: str, at: Span | None) -> CompileError:
    """Return the error for a malformed reference."""
    return CompileError([problems.vibes.MalformedReference(at=at, reference=short(reference), reason=reason)])


def unresolved(reference: str, nearest: tuple[str, ...], at: Span | None) -> CompileError:
    """Return the error for an unresolvable reference."""
    return CompileError([problems.vibes.UnresolvedReference(at=at, reference=short(reference), nearest=nearest)])


def unknown_version(reference: str, versions: tuple[str, ...], at: Span | None) -> CompileError:
    """Return the error for a version that does not exist; `versions` are the existing ones, oldest first."""
    return CompileError([problems.vibes.UnknownVersion(at=at, reference=short(reference), versions=versions)])


def invalid_vibe(places: Iterable[tuple[Span, str]], referrer: Span | None, way_out: str = "") -> CompileError:
    """Return the error for an invalid vibe file, with a reason at each place; `referrer` is the reference to it."""
    return CompileError(
        problems.vibes.InvalidVibe(at=at, reason=reason, referrer=referrer, way_out=way_out) for at, reason in places
    )


def unreadable_file(name: str, error: OSError | ValueError, at: Span | None) -> CompileError:
    """Return the error for an unreadable file; a `ValueError` concerns its path."""
    reason = getattr(error, "strerror", None) or "its path is not one"
    return invalid_vibe([(Source(name, "").whole(), reason.lower())], at)


def file_too_large(name: str, start: bytes, limit: int) -> CompileError:
    """Return the error for a file larger than `limit` bytes; `start` is its beginning."""
    at = Source(name, start[:200].decode("utf-8", "replace")).whole()
    return CompileError([problems.files.TooLarge(at=at, what="the vibe", limit=limit, unit="bytes", setting="vibe")])


SCHEME = "aug:"
Version: TypeAlias = tuple[int, ...]
"""Numbers of a version; empty for a file without one, which counts as the newest."""
_VERSION = r"[0-9]{1,18}(?:\.[0-9]{1,18}){0,15}"
_NEEDS_ESCAPE = r"[\s%#?:()\[\]{},;|@\"'\\\x00-\x1f\x7f]"
_CONTROL = r"[\x00-\x1f\x7f-\x9f]"
_ESCAPES = r"(?:%[0-9a-fA-F]{2})+"


class AugUri(Struct, frozen=True):
    """A parsed `aug:` reference; `str()` of it is its canonical spelling."""

    segments: tuple[str, ...]
    """Folders and the name of the vibe, in NFC and unescaped."""
    shared: bool = False
    """Whether a leading `/` restricts the lookup to the shared library."""
    version: str | None = None
    """Version: `1` of `:1`."""
    range: str | None = None
    """Version range: `1` of `?1`."""
    fragment: str | None = None
    """Unescaped text after `#`; `None` if there is no `#`."""

    @property
    def segment(self) -> str:
        """The last segment, which is the name of the vibe."""
        return self.segments[-1]

    def __str__(self) -> str:
        """Return the canonical spelling."""
        text = SCHEME + ("/" if self.shared else "") + "/".join(map(_escape, self.segments))
        if self.version is not None:
            text += f":{self.version}"
        if self.range is not None:
            text += f"?{self.range}"
        return text if self.fragment is None else f"{text}#{_escape(self.fragment)}"


def _escape(text: str) -> str:
    if text.isidentifier():  # the usual case, which needs no pattern
        return text
    return re.sub(
        _NEEDS_ESCAPE, lambda mark: "".join(f"%{byte:02X}" for byte in mark.group().encode("utf-8", "surrogatepass")), text
    )


def parse(text: str, at: Span | None = None) -> AugUri:
    """Parse a reference; raise `CompileError` with the reason if it is malformed or not allowed."""
    if text[:4].lower() != SCHEME:
        raise forbidden(text, "only `aug:` and `#` are read", at)
    if len(text) > REFERENCE_LENGTH:
        raise malformed(text, "it is too long", at)
    if _is_plain(text[len(SCHEME) :]):
        return AugUri(tuple(text[len(SCHEME) :].split("/")))
    body, has_fragment, fragment = text[len(SCHEME) :].partition("#")
    if body.startswith("~"):
        raise forbidden(text, "`~` is reserved for branches to come", at)
    body, has_range, wanted = body.partition("?")
    shared = body.startswith("/")
    folders, slash, last = body[shared:].rpartition("/")
    last, has_version, version = last.partition(":")
    if has_version and has_range:
        raise malformed(text, "it has both `:` and `?`", at)
    for mark, given in ((has_version, version), (has_range, wanted)):
        if mark and not re.fullmatch(_VERSION, given):
            raise malformed(text, f"`{short(given)}` is not a version", at)
    return AugUri(
        segments=tuple(_segment(part, text, at) for part in [*(folders.split("/") if slash else ()), last]),
        shared=shared,
        version=version if has_version else None,
        range=wanted if has_range else None,
        fragment=_unescape(fragment) if has_fragment else None,
    )


def _is_plain(path: str) -> bool:
    """Return quickly whether a path consists of plain names, without version, escape or fragment."""
    return path.isascii() and path.replace("/", "_").isidentifier() and "//" not in f"/{path}/"


def _segment(written: str, text: str, at: Span | None) -> str:
    segment = normalize("NFC", _unescape(written))
    if segment == "..":
        raise forbidden(text, "`..` leads out of a folder", at)
    if not segment or segment == ".":
        raise malformed(text, "a part of its path is empty", at)
    if "/" in segment or "\\" in segment or ":" in segment:
        raise forbidden(text, f"`{short(segment)}` is not a plain name of a folder or file", at)
    if not segment.isprintable() and re.search(_CONTROL, segment):
        raise forbidden(text, "it holds a control character", at)
    if "@" in segment:
        raise malformed(text, "`@` has no place in it (a version follows a colon)", at)
    return segment


def _unescape(text: str) -> str:
    """Decode percent escapes that form UTF-8; leave others unchanged."""
    if "%" not in text:
        return text
    return re.sub(_ESCAPES, lambda run: bytes.fromhex(run.group().replace("%", "")).decode("utf-8", "replace"), text)


def evergreen_of(uri: str) -> str:
    """Return a reference without its version."""
    head, colon, last = uri.rpartition(":")
    return head if colon and head != SCHEME[:-1] and version_of(last) is not None else uri


def version_of(text: str) -> Version | None:
    """Return the numbers of a version, or `None` if the text is not one."""
    return tuple(map(int, text.split("."))) if re.fullmatch(_VERSION, text) else None

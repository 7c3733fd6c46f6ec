"""The studio: a local page with an editor for one project and the output of commands next to it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator
from hashlib import sha256
from hmac import compare_digest
from importlib.resources import files
from pathlib import Path
from secrets import token_urlsafe
from tempfile import mkdtemp
from typing import Final

from msgspec import Struct, field, structs
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from instrc import problems
from instrc.compiler.emit.emit import located_process
from instrc.compiler.workspace import OptionOverrides, Workspace
from instrc.engines.launch import Launcher
from instrc.engines.prepare import prepare
from instrc.lsp.completion import completion
from instrc.lsp.session import EditorSession, TextDocument, diagnostics
from instrc.problems.errors import AuthenticationError, StaleError
from instrc.problems.problem import Problem
from instrc.problems.report import Report
from instrc.process.picture import Picture, folded_pictures, picture_of
from instrc.process.picture_page import html
from instrc.providers.targets import targets
from instrc.server.access import LOCAL, Caller
from instrc.server.door import caller_of, json_response
from instrc.server.identity import cookie_in
from instrc.server.operation_json import refuse
from instrc.server.run_service import RunService
from instrc.server.templates import render, words_for
from instrc.testing.cases import ENDING as CASES
from instrc.testing.evaluation.export import eval_case, test_case
from instrc.text.files import read_whole, reason
from instrc.text.jsontext import loads
from instrc.text.jsonvalue import Json, JsonObject, mapping, optional_text, text_or_empty
from instrc.vibes.settings import PREVIEW_INPUT

COMMANDS: Final = 2
"""Maximum concurrent commands."""
COOKIE: Final = "instrc_studio"
_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "build", "dist"})
EDITED: Final = (".aug", ".vibe.json", ".cases.md", ".eval.jsonl", "pyproject.toml")
"""Extensions and names of files that the studio edits."""
FILES: Final = 1_000
"""Maximum files of a project that are listed and kept for comparison."""
FILE_BYTES: Final = 1024 * 1024
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
COMPLETIONS: Final = 60
_ARGUMENT: Final = 100_000
"""Maximum bytes of an argument of a command: Linux takes 131,071."""
SECONDS: Final = 60.0
"""Time limit of a command, in seconds."""
_GRAPH_POLICY: Final = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'self'"
)
"""Policy for a graph, a page with its own script: it is shown in a frame without an origin, isolated from the studio."""


class Studio(Struct):
    """A project, its runs, and its page; only files of the project are changed."""

    root: Path
    service: RunService
    model: str | None = None
    token: str = field(default_factory=token_urlsafe)
    """Secret in the address that the command prints, set as a cookie when opened; other requests are refused."""
    _session: EditorSession = field(default_factory=EditorSession)
    _turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(COMMANDS))
    _folder: Path = field(default_factory=lambda: Path(mkdtemp(prefix="instrc-studio-")))
    """A folder that only this user may enter; it is kept until `close`, so that no other user can take its name."""

    def __post_init__(self) -> None:
        self.root = self.root.resolve()
        self.keep()

    async def identify(self, headers: Headers) -> Caller | None:
        """Return the user of this machine, if the request has the cookie of the page."""
        given = cookie_in(headers.get("cookie", ""), COOKIE)
        return LOCAL if given is not None and compare_digest(given.encode(), self.token.encode()) else None

    @property
    def routes(self) -> list[BaseRoute]:
        """The page, and the requests of its script."""
        asked: list[tuple[str, Callable[[JsonObject], Awaitable[Json]]]] = [
            ("write", self._write),
            ("check", self._check),
            ("complete", self._complete),
            ("show", self._show),
            ("prepare", self._prepare),
            ("case", self._case),
            ("keep", self._keep),
        ]
        return [
            Route("/studio", self._page),
            Route("/studio/open/{token}", self._open),
            Route("/studio/files", self._files),
            Route("/studio/file", self._file),
            Route("/studio/graph", self._graph),
            Route("/studio/{name:path}", _asset, methods=["GET"]),
            *(Route(f"/studio/{name}", _endpoint(verb), methods=["POST"]) for name, verb in asked),
        ]

    @property
    def _kept(self) -> Path:
        return self._folder / "kept"

    def close(self) -> None:
        """Discard the earlier version of the files."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def listed(self) -> Iterator[Path]:
        """Yield the files of the project that can be edited, relative to its folder."""
        count = 0
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(each for each in folders if not each.startswith(".") and each not in _SKIPPED)
            for name in sorted(names):
                place = Path(folder, name)
                if name.endswith(EDITED) and count < FILES and place.is_file() and place.resolve().is_relative_to(self.root):
                    count += 1
                    yield place.relative_to(self.root)

    def path(self, given: Json) -> Path:
        """Return a file of the project; raise for files outside it, or of other types."""
        name = given if isinstance(given, str) and given and "\0" not in given else ""
        place = (self.root / name).resolve()
        inside = place.is_relative_to(self.root) and place.name.endswith(EDITED)
        hidden = any(part.startswith(".") for part in place.relative_to(self.root).parts) if inside else True
        if not name or not inside or hidden:
            refuse(f"the studio edits only {', '.join(f'`{each}`' for each in EDITED)} of its project", "/path")
        return place

    def keep(self) -> None:
        """Record the current files, with which later ones are compared."""
        shutil.rmtree(self._kept, ignore_errors=True)
        for each in self.listed():
            if (self.root / each).stat().st_size <= FILE_BYTES:
                (self._kept / each).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.root / each, self._kept / each)

    async def _keep(self, _asked: JsonObject) -> Json:
        await asyncio.to_thread(self.keep)
        return {}

    async def _write(self, asked: JsonObject) -> Json:
        """Write a file, unless it has changed since it was read."""
        place, text = self.path(asked.get("path")), asked.get("text")
        if not isinstance(text, str) or len(text.encode("utf-8", "replace")) > FILE_BYTES:
            refuse(f"the text of a file is a text of at most {FILE_BYTES:,} bytes", "/text")
        before = _text_of(place)
        if _digest(before) != asked.get("digest"):
            raise StaleError([problems.serving.StateChanged(what=str(place.relative_to(self.root)))])
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode("utf-8"))
        except (OSError, UnicodeEncodeError) as error:
            refuse(f"it cannot be written: {error}", "/path")
        self._session.forget()
        return {"digest": _digest(text)}

    async def _page(self, request: Request) -> Response:
        caller_of(request)
        made = render("studio.html", words_for("en"), project=self.root.name, targets=sorted(targets()), model=self.model or "")
        return HTMLResponse(made, 200, {"Content-Security-Policy": POLICY})

    async def _open(self, request: Request) -> Response:
        """Set the cookie for a browser that opens the printed address."""
        if not compare_digest(request.path_params["token"].encode(), self.token.encode()):
            raise AuthenticationError(
                [problems.serving.NotAuthenticated(reason="this is not the address that the studio has printed")]
            )
        response = RedirectResponse("/studio", 303)
        response.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
        return response

    async def _files(self, request: Request) -> Response:
        caller_of(request)
        return json_response([each.as_posix() for each in self.listed()])

    async def _file(self, request: Request) -> Response:
        caller_of(request)
        text = _text_of(self.path(request.query_params.get("path")))
        return json_response({"text": text or "", "digest": _digest(text), "exists": text is not None})

    def _document(self, asked: JsonObject) -> TextDocument:
        place = str(self.path(asked.get("path")))
        text = text_or_empty(asked.get("text"))
        known = self._session.documents.get(place)
        return known if known is not None and known.source.text == text else self._session.put(place, text)

    async def _check(self, asked: JsonObject) -> Json:
        """Return the problems of a text, as from the language server, with their fixes."""

        def check() -> Json:
            document = self._document(asked)
            if not document.path.endswith((".aug", ".vibe.json")):
                return []
            found = self._session.check(document)
            told = diagnostics(found, document, self._session)
            return [
                {
                    "from": document.lines.offset(each.range.start),
                    "to": document.lines.offset(each.range.end),
                    "line": each.range.start.line + 1,
                    "column": each.range.start.character + 1,
                    "severity": problem.severity,
                    "name": problem.name,
                    "message": each.message,
                    "fixes": _fixes(problem, document),
                }
                for problem, each in zip(found, told, strict=True)
            ]

        return await asyncio.to_thread(check)

    async def _complete(self, asked: JsonObject) -> Json:
        """Return the completions at a place."""
        offset = asked.get("offset")

        def complete() -> Json:
            document = self._document(asked)
            place = offset if isinstance(offset, int) else 0
            found = completion(document, max(0, min(place, len(document.source.text))), self._session, snippets=False)
            return [
                {"label": each.label, "text": each.insert_text or each.label, "detail": each.detail or ""}
                for each in found[:COMPLETIONS]
            ]

        return await asyncio.to_thread(complete)

    async def command(self, *words: str, **hidden: str) -> CommandOutput:
        """Return the output of a command for the files on disk; variables of the environment are `hidden` from other users."""
        environment = {**os.environ, **hidden, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
        async with self._turn:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "instrc", *words),  # `-P`: the folder of the project is no place of modules
                cwd=self.root,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                output, told = await asyncio.wait_for(process.communicate(), SECONDS)
            except TimeoutError:
                return CommandOutput(1, "", f"the command takes longer than {SECONDS:.0f} seconds")
            finally:
                if process.returncode is None:
                    process.kill()
        return CommandOutput(process.returncode or 0, output.decode("utf-8", "replace"), told.decode("utf-8", "replace"))

    async def _show(self, asked: JsonObject) -> Json:
        """Return the output of `compile`, `preview` or `diff` for a file."""
        place, view, target = self.path(asked.get("path")), asked.get("view"), text_or_empty(asked.get("target"))
        if target and target not in targets():
            refuse("there is no such target", "/target")
        chosen = ["--target", target] if target else []
        file, hidden = f"./{place.relative_to(self.root).as_posix()}", dict[str, str]()
        if view == "preview" and (prompt := text_or_empty(asked.get("input"))):
            if "\0" in prompt or len(prompt.encode()) > _ARGUMENT:
                refuse("it has the character 0, or is too long for a command", "/input")
            hidden[PREVIEW_INPUT] = prompt
        if view in {"schema", "preview"}:
            return structs.asdict(await self.command("compile" if view == "schema" else "preview", *chosen, "--", file, **hidden))
        if view != "compare":
            refuse("the views are `schema`, `preview` and `compare`", "/view")
        old = self._kept / place.relative_to(self.root)
        if not old.exists():
            return structs.asdict(CommandOutput(0, "this file is new\n", ""))
        shown = await self.command("diff", "--", str(old), file)
        return structs.asdict(structs.replace(shown, output=shown.output.replace(f"{self._kept}/", "kept: ")))

    async def _graph(self, request: Request) -> Response:
        """Return the page of `graph` for a frame; while the file has mistakes, the frame keeps what it shows."""
        caller_of(request)
        place, headers = self.path(request.query_params.get("path")), {"Content-Security-Policy": _GRAPH_POLICY}
        page = await asyncio.to_thread(_drawn, str(place))
        if page or request.query_params.get("first") != "yes":
            return HTMLResponse(page, 200 if page else 204, headers)
        return Response("The file has mistakes: see the list of problems.", 200, headers, "text/plain")

    async def _prepare(self, asked: JsonObject) -> Json:
        """Prepare runs of a program as on disk, rehearsals or with a model; its form is that of the page of starts."""
        place, export = self.path(asked.get("path")), optional_text(asked.get("export"))
        model = optional_text(asked.get("model")) or self.model
        rehearse = asked.get("rehearse") is True

        def launcher() -> Launcher:
            return Launcher(prepare(str(place), export=export), model=None if rehearse else model, rehearse=rehearse)

        made = await asyncio.to_thread(launcher)
        name = made.prepared.name
        self.service.launchers[name] = made
        return {"program": name}

    async def _case(self, asked: JsonObject) -> Json:
        """Append a run to the test cases or evaluation cases next to its program, once."""
        place, run, kind = self.path(asked.get("path")), text_or_empty(asked.get("run")), asked.get("kind")
        story = await self.service.story(LOCAL, run)
        outcome, events = story.info.report.outcome, (await asyncio.to_thread(self.service.engine.trace_from, run))[0]
        if (
            story.launch is None
            or outcome is None
            or outcome["status"] == "stopped"
            or (kind == "eval" and outcome["status"] != "done")
        ):
            refuse("only a run that is done is kept, as a test case also one that has failed", "/run")
        stem = place.name.removesuffix(".vibe.json").removesuffix(".aug")
        file = self.path(place.with_name(f"{stem}{'.eval.jsonl' if kind == 'eval' else CASES}").relative_to(self.root).as_posix())
        before = _text_of(file) or ""
        if run not in before:
            case = (run, story.launch.inputs)
            if kind == "eval" and outcome["status"] == "done":
                text = eval_case(*case, outcome, events)
            else:
                text = test_case(*case, outcome, events, None)
            file.write_text(f"{before}{'' if not before or before.endswith(chr(10)) else chr(10)}{text}", encoding="utf-8")
        return {"file": file.relative_to(self.root).as_posix()}


async def _asset(request: Request) -> Response:
    kinds = {"studio.js": "text/javascript", "studio.css": "text/css"}
    name = request.path_params["name"]
    if name not in kinds:
        return Response("there is nothing here", 404, media_type="text/plain")
    return Response((files("instrc.server") / "pages" / name).read_text(encoding="utf-8"), 200, media_type=kinds[name])


def _endpoint(verb: Callable[[JsonObject], Awaitable[Json]]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        caller_of(request)
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            refuse("the body is `application/json`")
        try:
            body = loads(await request.body())
        except ValueError as error:
            refuse(f"the body is not JSON: {error}")
        return json_response(await verb(mapping(body)))

    return endpoint


def _text_of(place: Path) -> str | None:
    """Return the text of a file, or `None` if there is none."""
    try:
        return read_whole(str(place), FILE_BYTES).decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        refuse(f"it cannot be read: {reason(error)}", "/path")
    except UnicodeDecodeError:
        refuse("it is not text in UTF-8", "/path")


def _digest(text: str | None) -> str | None:
    return None if text is None else sha256(text.encode("utf-8", "replace")).hexdigest()


def _fixes(problem: Problem, document: TextDocument) -> Json:
    """Return the fixes of a problem that change this text."""
    return [
        {"title": fix.title, "edits": [{"from": edit.span.start, "to": edit.span.end, "text": edit.text} for edit in fix.edits]}
        for fix in problem.fixes
        if all(edit.span.source.text == document.source.text for edit in fix.edits)
    ]


def _drawn(place: str) -> str:
    """Return the page with the graphs of a file, or nothing while it has mistakes; code of the project is not run."""
    report = Report()
    pictures: list[Picture] = []
    for artefact in Workspace(unsaved={}).compile(place, OptionOverrides(), report):
        process, places = located_process(artefact)
        pictures += folded_pictures(picture_of(process, artefact.name, places))
    return "" if report.failed else html(pictures)


class CommandOutput(Struct):
    """The output of a command."""

    code: int
    output: str
    told: str

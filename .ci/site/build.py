"""Make the site from the pages of this repository: `python .ci/site/build.py`; it is `.ci/site/out/site/index.html`.

Pages keep their places, so links between them lead to the same pages; a link to another file leads to the repository.
The page of each problem, the public functions with their docstrings, and the schemas are written here.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from pygments.lexers import LEXERS

import instrc

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOCS = HERE / "out" / "docs"
REPOSITORY = tomllib.loads((ROOT / ".github" / "addresses.toml").read_text(encoding="utf-8"))["repository"]
BLOB = f"{REPOSITORY}/blob/main/"
PROBLEMS = "instrc/problems/pages/"
PLACES = {".github/": "project/", PROBLEMS: "explain/"}
"""Where pages lie on the site, if not where they lie in the repository."""
MODULES = re.compile(r"(?:^## Modules\n+)?^<!-- modules -->\n.*?^<!-- modules -->\n+", re.MULTILINE | re.DOTALL)
"""Tables of modules: they are for those who have the files before them."""
WITH_THE_FILES = {
    "instrc/compiler/README.md",
    "instrc/engines/writing.md",
    "instrc/providers/lowering/README.md",
    "instrc/runtime/contract.md",
    "instrc/tools/README.md",
    "schemas/vectors/README.md",
    "tests/benchmarks/evaluation.md",
    "tests/benchmarks/models.md",
    "tests/benchmarks/parts.md",
}
"""Pages for the same readers: links to them lead to the repository."""
BY_TITLE = ("explain/", "CHANGELOG", "tests/", "project/")
"""Pages that a search finds by their titles alone: their text would stand before what teaches."""
COMPLETING = re.compile(r'^```json schemas/\S+\n\{ "type": "object" \}\n```\n', re.MULTILINE)
"""Files that only make the example of a problem complete, for the test that runs it."""
FOR_THE_LIBRARY = {
    "Activities": {"find", "processes", "takes", "with_those_of"},
    "Artefact": {"hints"},
    "Dialect": {"budgeted", "describable", "items_limit", "named", "reorders", "rooted", "shown_to_model", "takes_step"},
    "Flat": {"then"},
    "Problem": {"characters"},
    "Question": {"apart", "below"},
    "Report": {"change", "stop_if_failed", "take"},
    "Retry": {"again", "wait"},
    "Run": {"only_step", "typed"},
    "Sample": {"answer"},
    "Scripted": {"answer"},
    "Source": {"span", "whole"},
    "Span": {"to"},
}
"""Members that only the library calls; `help` has them."""
MOST_PARAMETERS = 30
"""Parameters of a class that are shown: those of a larger one are fields that its own page explains."""
SHARED = "vibes: InMemory | None = None, roots: Iterable[AnyPath] = (), shared: Iterable[AnyPath] = ()"
"""Parameters that many functions share: the page has them in full at `compile`."""
ERRORS = "../examples/guides/python.md#errors"
LONG_SIGNATURE = 200
"""Characters of a signature from which another function with the same parameters refers to it."""
MOST_OF_A_DEFAULT = 40
"""Characters of a default that is shown."""
sys.path.insert(0, str(HERE))
LEXERS["AugLexer"] = ("aug_lexer", "Aug", ("aug",), ("*.aug",), ())


def sources() -> dict[str, str]:
    """Return the pages of the repository: the path of each, and its path on the site."""
    listed = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S607  -- the git of whoever builds
    found = {}
    for name in sorted({*filter(None, listed.split("\0"))} - WITH_THE_FILES):
        shown = name.startswith(("examples/", "grammar/", "schemas/", "instrc/", "tests/benchmarks/"))
        if (shown or "/" not in name or name.startswith(".github/")) and ".cases." not in name:
            place = next((there + name.removeprefix(here) for here, there in PLACES.items() if name.startswith(here)), name)
            found[name] = "index.md" if name == "README.md" else place
    return found


def moved(text: str, name: str, pages: dict[str, str]) -> str:
    """Return a page with links that hold on the site."""
    here = Path(pages[name]).parent

    def link(found: re.Match[str]) -> str:
        target, _, heading = found[1].partition("#")
        if target.startswith(BLOB):
            place = ROOT / target.removeprefix(BLOB)
        elif not target or ":" in target:
            return found[0]
        else:
            place = (ROOT / name).parent / target
        path = place.resolve().relative_to(ROOT).as_posix()
        path = f"{path}/README.md" if f"{path}/README.md" in pages else path
        if path not in pages:
            pictures = (".png", ".svg", ".gif")
            return f"]({BLOB}{path}{'#' + heading if heading else ''})" if not path.endswith(pictures) else _picture(path, here)
        up = "../" * len(here.parts)
        return f"]({up}{pages[path]}{'#' + heading if heading else ''})"

    code_or_link = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\(([^)\s]+)\)", re.MULTILINE | re.DOTALL)
    return code_or_link.sub(lambda found: link(found) if found[1] else found[0], text)


def _picture(path: str, here: Path) -> str:
    (DOCS / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / path, DOCS / path)
    return f"]({'../' * len(here.parts)}{path})"


def write(place: str, text: str) -> None:
    """Write a page; blocks of code that only our own tests mark are plain ones on the site."""
    (DOCS / place).parent.mkdir(parents=True, exist_ok=True)
    text = re.sub(r"^```(\w+) (?!title=)[^\n`]*$", r"```\1", text, flags=re.MULTILINE)
    (DOCS / place).write_text(text, encoding="utf-8")


def explained() -> None:
    """Write the list of the pages of `instrc explain`: their names, by first letter."""
    names: dict[str, list[str]] = {}
    for page in sorted((ROOT / PROBLEMS).glob("*.md")):
        names.setdefault(page.stem[0].upper(), []).append(f"[`{page.stem}`]({page.name})")
    intro = "# Problems\n\nEach problem has a name and a page; `instrc explain NAME` shows it in a terminal.\n"
    write("explain/index.md", "\n".join([intro, *(f"**{letter}** {', '.join(links)}\n" for letter, links in names.items())]))


def reference() -> None:
    """Write the public functions and classes with their docstrings, and the schemas."""
    note = (
        "`help(instrc.NAME)` also has the members that only the library calls; `vibes=…, roots=…, shared=…` are as for `compile`."
    )
    parts = [f"# Python\n\nThe public names of `instrc`. {note}\n"]
    errors: list[str] = []
    first_with: dict[str, str] = {}
    public = {name: thing for name in instrc.__all__ if callable(thing := getattr(instrc, name))}
    for name, thing in public.items():
        if name.removesuffix("_async") != name and name.removesuffix("_async") in public:
            continue
        if isinstance(thing, type) and issubclass(thing, instrc.InstrcError) and thing is not instrc.InstrcError:
            errors.append(f"* `{name}`: {' '.join((inspect.getdoc(thing) or '').split())}")
            continue
        signature = _signature(thing) if name == "compile" else _signature(thing).replace(SHARED, "vibes=…, roots=…, shared=…")
        first = first_with.setdefault(signature.rpartition(" -> ")[0] or signature, name)
        same = len(signature) > LONG_SIGNATURE and first != name
        shown = f"{'class ' if isinstance(thing, type) else ''}{name}{f'(…)  # the parameters of {first}' if same else signature}"
        parts.append(f"## {name}\n\n```py\n{shown}\n```\n\n{inspect.getdoc(thing) or ''}\n")
        if f"{name}_async" in public:
            parts.append(f"`{name}_async` is the same for an event loop.\n")
        if isinstance(thing, type):
            parts += _members(name, thing)
    parts += [f"## Errors\n\nSubclasses of `InstrcError` ([when, and their codes]({ERRORS})):\n", *errors]
    write("reference/python.md", "\n".join(parts))
    contract = f"{BLOB}instrc/runtime/contract.md#the-contract-of-the-process-json"
    parts = [f"# Schemas\n\n[The contract]({contract}) says how a process is carried out.\n"]
    for name, title in (("vibe", "A vibe file"), ("process", "A process"), ("map", "A map")):
        schema = ROOT / "schemas" / "meta" / f"{name}.schema.json"
        shutil.copyfile(schema, DOCS / "reference" / schema.name)
        meaning = json.loads(schema.read_text(encoding="utf-8")).get("description", "")
        parts.append(f"## {title}\n\n[`{schema.name}`]({schema.name}) {meaning}\n")
    write("reference/schemas.md", "\n".join(parts))


def _members(name: str, thing: type) -> list[str]:
    """Return the members of a class with their docstrings: one of one line as a row, twins with one docstring once."""
    documented = {
        member: inspect.getdoc(value) or ""
        for member, value in vars(thing).items()
        if not member.startswith("_")
        and (callable(value) or isinstance(value, property))
        and inspect.getdoc(value)
        and member not in FOR_THE_LIBRARY.get(name, ())
    }
    rows, parts = [], []
    for member, text in documented.items():
        if documented.get(member.removesuffix("_async"), "") == text and member.endswith("_async"):
            continue
        both = f"{member}`, `{member}_async" if documented.get(f"{member}_async") == text else member
        if "\n" in text:
            parts.append(f"### {name}.{member}\n\n{f'`{both}`: ' if both != member else ''}{text}\n")
        else:
            rows.append(f"* `{both}`: {text}")
    return ["\n".join(rows) + "\n", *parts] if rows else parts


def _signature(thing: object) -> str:
    """Return the parameters of a function or a class; a long or private default is `…`."""
    try:
        signature = inspect.signature(thing)  # type: ignore[arg-type]  # what has no signature raises
    except (TypeError, ValueError, NameError):  # a record has names that only type checkers know
        return "(…)"
    if isinstance(thing, type) and len(signature.parameters) > MOST_PARAMETERS:
        return "(…)"
    shown = [
        value if len(repr(value.default)) <= MOST_OF_A_DEFAULT else value.replace(default=Ellipsis)
        for value in signature.parameters.values()
    ]
    text = re.sub(r"""(: |-> )(['"])(.*?)\2""", r"\1\3", str(signature.replace(parameters=shown))).replace("= Ellipsis", "= …")
    text = re.sub(r"ForwardRef\('(.*?)'\)(?=[ ,)])", r"\1", text)
    return re.sub(r"\b(?:instrc|collections|typing)\.[\w.]*\.(?=\w)|\btyping\.", "", text)


def main() -> None:
    """Write the pages, then let the generator make the site of them."""
    shutil.rmtree(HERE / "out", ignore_errors=True)
    pages = sources()
    for name, place in pages.items():
        text = MODULES.sub("", (ROOT / name).read_text(encoding="utf-8"))
        if name.startswith(PROBLEMS):  # in a terminal the name is in the command
            named = re.sub(r"^```(\w+) (\S+)$", r'```\1 title="\2"', COMPLETING.sub("", text), flags=re.MULTILINE)
            text = f"# {Path(name).stem}\n\n{named}"
        write(place, moved(text, name, pages))
    explained()
    reference()
    (DOCS / "assets").mkdir()
    shutil.copyfile(HERE / "site.css", DOCS / "assets" / "site.css")
    from zensical import build  # needed by this last step only

    build(str(HERE / "zensical.toml"), {"clean": True, "strict": False})
    for page in (HERE / "out" / "site").rglob(
        "*.html"
    ):  # the one thing that the theme would fetch: workers for pages from a file
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("https://unpkg.com/iframe-worker/shim", f"{_up(page)}assets/worker.js"), encoding="utf-8")
    shutil.copyfile(HERE / "worker.js", HERE / "out" / "site" / "assets" / "worker.js")
    searched()


def searched() -> None:
    """Let a search find what teaches before problems and changes, in its index and in the copy for pages from a file."""
    index, copy = HERE / "out" / "site" / "search.json", HERE / "out" / "site" / "search.js"
    before = index.read_text(encoding="utf-8")
    whole = json.loads(before)
    for item in whole["items"]:
        item["text"] = "" if item["location"].startswith(BY_TITLE) else item["text"]
    after = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    index.write_text(after, encoding="utf-8")
    copy.write_text(copy.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")


def _up(page: Path) -> str:
    return "../" * (len(page.relative_to(HERE / "out" / "site").parts) - 1)


if __name__ == "__main__":
    main()

"""Make the pictures of this page and of the guide to forms; needs Chromium, Playwright and Pillow."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any
from urllib.request import Request, urlopen

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
MEETING = HERE.parent / "meeting-with-approval"
SERVED = HERE.parent / "tutorial" / "9-served"
PERSON = HERE.parent / "tutorial" / "5-person"
LARGE = "<style>pre { font-size: 15px !important; white-space: pre-wrap; }</style>"
WIDTH, HEIGHT, SCROLLED = 760, 560, 460
"""Size of a recording, and how far its page is scrolled."""
PAGE = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 20px; background: #16181d; color: #dfe3ea; } pre { font: 13px/1.35 "DejaVu Sans Mono", monospace; }
</style><pre>%s</pre>"""


def instrc(folder: Path, *words: str) -> str:
    """Run our command and return what it prints; a run that waits for a person exits with 3."""
    done = subprocess.run([sys.executable, "-m", "instrc", *words], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603  -- our own command
    if done.returncode not in {0, 3}:
        raise SystemExit(done.stderr)
    return done.stdout


def shoot(page: Path | str, name: str, width: int, height: int) -> None:
    """Take the picture of a page."""
    place = HERE / f"{name}.png"
    with opened(page if isinstance(page, str) else page.as_uri(), width, height) as view:
        view.screenshot(path=place)
    shrink(place)


@contextmanager
def opened(address: str, width: int, height: int) -> Iterator[Page]:
    """Open a page in Chromium."""
    path = next(found for each in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(each)))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--hide-scrollbars"])
        view = browser.new_page(viewport={"width": width, "height": height})
        view.goto(address)
        yield view
        browser.close()


def shrink(place: Path) -> None:
    """Reduce a picture to 128 colours so that it stays small."""
    Image.open(place).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(place, optimize=True)


def serve(folder: Path) -> None:
    """Take the pictures of a service: its inbox, a question, and the run that waits for the answer."""
    with ExitStack() as stack:
        for command in (["service.py"], ["-m", "instrc", "serve", "answer.aug", "--port", "8421"]):
            started = subprocess.Popen([sys.executable, *command], cwd=folder, stdout=subprocess.DEVNULL)  # noqa: S603  -- our own
            stack.enter_context(started)
            stack.callback(started.terminate)
        for letter in ("My cake came broken. Ann", "The cherries were missing. Order 17. Bob"):
            run = asked(letter)
        base = "http://127.0.0.1:8421/inbox"
        shoot(base, "inbox", 760, 480)
        shoot(f"{base}/question/{run['questions'][0]['id']}", "question", 760, 1150)
        shoot(f"{base}/runs/{run['run']}", "run", 1000, 1500)


def record(folder: Path) -> None:
    """Record a program, its question to a person, and its result; the recording plays once and stops at the result."""
    program = (folder / "answer.aug").read_text(encoding="utf-8")
    run = ("run", "answer.aug", "--input", "My cake came broken. Ann", "--id", "ann")
    subprocess.run([sys.executable, "-m", "instrc", *run, "--quiet"], cwd=folder, check=False, capture_output=True)  # noqa: S603  -- our own
    waiting = json.loads(instrc(folder, "show", "ann"))
    begun = f"$ cat answer.aug\n{program}\n$ instrc {shlex.join(run)}\n{waiting['status']} for the answer of a person"
    command = [sys.executable, "-m", "instrc", "serve", "answer.aug", "--port", "8422"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as started:  # noqa: S603  -- our own
        question = f"http://127.0.0.1:8422/inbox/question/ann:{waiting['questions'][0]['id']}"
        for _ in range(60):
            with suppress(OSError), urlopen(question):
                break
            sleep(1)
        shoot(question, "frame2", WIDTH, 2 * HEIGHT)
        started.terminate()
    instrc(folder, "answer", "ann", "approve", "--data", '{"decision":"Approve"}', "--quiet")
    steps = json.loads(instrc(folder, "show", "ann"))["output"]
    result = "\n".join(f"{key}\n    {json.dumps(value)}" for key, value in steps.items())
    for name, text in (("frame1", begun), ("frame3", f"{begun}\n\napproved on the page: done\n\n{result}")):
        (folder / f"{name}.html").write_text(LARGE + PAGE % html.escape(text), encoding="utf-8")
        shoot(folder / f"{name}.html", name, WIDTH, HEIGHT)
    places = [HERE / f"frame{number}.png" for number in (1, 2, 3)]
    before, page, after = [Image.open(place).convert("RGB") for place in places]
    question_parts = [page.crop((0, top, WIDTH, top + HEIGHT)) for top in (0, SCROLLED)]
    first, *rest = [frame.quantize(64, dither=Image.Dither.NONE) for frame in (before, *question_parts, after)]
    first.save(HERE / "approval.gif", save_all=True, append_images=rest, duration=[6000, 4000, 4000, 60000], optimize=True)
    for place in places:
        place.unlink()


def forms(folder: Path) -> None:
    """Take the pictures of the guide to forms: each schema on its page becomes a question of `instrc serve`."""
    page = (HERE.parent / "guides" / "forms.md").read_text(encoding="utf-8")
    (folder / "schemas").mkdir()
    (folder / "pyproject.toml").touch()
    schemas = re.findall(r'```json title="schemas/(\w+)_User.vibe.json"\n(.*?)```.*?pictures/(form-\w+).png', page, re.DOTALL)
    for name, schema, _ in schemas:
        (folder / "schemas" / f"{name}_User.vibe.json").write_text(schema, encoding="utf-8")
        (folder / f"{name}.aug").write_text(f"{name.capitalize()}_User(prompt)", encoding="utf-8")
    command = [sys.executable, "-m", "instrc", "serve", *(f"{name}.aug" for name, *_ in schemas), "--port", "8421"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as started:  # noqa: S603  -- our own
        for name, _, picture in schemas:
            run = asked("A train to Rome, 84 euros", name)
            with opened(f"http://127.0.0.1:8421/inbox/question/{run['questions'][0]['id']}", 640, 900) as view:
                view.locator("section[aria-labelledby=asked]").screenshot(path=HERE / f"{picture}.png")
            shrink(HERE / f"{picture}.png")
        started.terminate()


def asked(letter: str, program: str = "answer_a_customer") -> dict[str, Any]:
    """Begin a run, as soon as the service is there, and return how it stands when it waits."""
    headers = {"Content-Type": "application/json", "Prefer": "wait=30"}
    body = json.dumps({"program": program, "input": letter}).encode()
    for _ in range(60):
        with suppress(OSError), urlopen(Request("http://127.0.0.1:8421/v1/runs", body, headers)) as answer:
            return dict(json.load(answer))
        sleep(1)
    raise SystemExit("the service does not answer")


def main() -> None:
    """Make all pictures."""
    with TemporaryDirectory() as name:
        shutil.copytree(SERVED, Path(name) / "served")
        serve(Path(name) / "served")
    with TemporaryDirectory() as name:
        forms(Path(name))
    with TemporaryDirectory() as name:
        shutil.copytree(PERSON, Path(name) / "person")
        record(Path(name) / "person")
    with TemporaryDirectory() as name:
        folder = Path(name) / "meeting"
        shutil.copytree(MEETING, folder, ignore=shutil.ignore_patterns("expected"))
        instrc(folder, "graph", "meeting.aug", "--format", "html", "-o", "graph.html")
        shoot(folder / "graph.html", "graph", 1000, 1180)
        run = ("run", "meeting.aug", "--input", "lunch with Ann on Friday", "--model", "scripted:answers.json")
        instrc(folder, *run, "--id", "lunch", "--quiet", "-o", "waiting.json")
        instrc(folder, "answer", "lunch", "approve", "--data", '{"decision":"Approve"}', "--quiet", "-o", "done.json")
        instrc(folder, "trace", "lunch", "--format", "html", "-o", "trace.html")
        shoot(folder / "trace.html", "trace", 1280, 580)
        preview = ("preview", "meeting.aug", "--input", "lunch with Ann on Friday")
        typed = f"$ instrc {shlex.join(preview)}"
        (folder / "preview.html").write_text(PAGE % html.escape(f"{typed}\n\n{instrc(folder, *preview)}"), encoding="utf-8")
        shoot(folder / "preview.html", "preview", 1000, 920)


if __name__ == "__main__":
    main()

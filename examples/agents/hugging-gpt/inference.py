"""A local stand-in for an inference service: it knows the models of the registry and answers by their type.

`GET /status/MODEL` says whether a model is there, `POST /models/MODEL {task, inputs}` runs it,
`POST /fail {model, mode}` lets one fail.
An answer is `{text}`, `{image}`, `{audio}`, `{video}` (paths of files that exist), or `{boxes}`;
the same inputs give the same answer.
"""

from __future__ import annotations

import argparse
import json
import math
import struct
import tempfile
import wave
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

MODELS = Path(__file__).parent / "models.jsonl"
MODES = ("none", "down", "error")
KINDS = {
    **dict.fromkeys(("text-to-image", "image-to-image", "image-segmentation", "depth-estimation"), "image"),
    **dict.fromkeys(("text-to-speech", "audio-to-audio"), "audio"),
    "text-to-video": "video",
    "object-detection": "boxes",
}
"""What a type of model gives; a text if it is not listed, an image if its name ends in `-control` or `-text-to-image`."""
_MOST = 10_000_000


def kind_of(task: str) -> str:
    """Return what a type of model gives."""
    if task.endswith(("-control", "-text-to-image")):
        return "image"
    return KINDS.get(task, "text")


class Inference(ThreadingHTTPServer):
    """The service, with a folder for the files it makes."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, folder: Path, port: int = 0, models: Path = MODELS) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.folder = folder
        self.modes: dict[str, str] = {}
        read = [json.loads(line) for line in models.read_text("utf-8").splitlines()]
        self.tasks: dict[str, set[str]] = {}
        for model in read:
            self.tasks.setdefault(model["id"], set()).add(model["task"])

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def run(self, model: str, task: str, inputs: Any) -> dict[str, Any]:
        """Return what a model makes of its inputs."""
        seed = zlib.crc32(json.dumps([model, task, inputs], sort_keys=True).encode())
        kind = kind_of(task)
        if kind == "text":
            return {"text": _text(task, inputs, seed)}
        if kind == "boxes":
            box = {"xmin": seed % 40, "ymin": seed % 30, "xmax": 60 + seed % 40, "ymax": 50 + seed % 30}
            return {"boxes": [{"label": ("cat", "dog", "boat", "person")[seed % 4], "score": 0.9, "box": box}]}
        ending, data = {"image": (".png", _png), "audio": (".wav", None), "video": (".gif", _gif)}[kind]
        path = self.folder / f"{seed:08x}{ending}"
        if data is None:
            _wave(path, 220 + seed % 440)
        else:
            path.write_bytes(data(seed))
        return {kind: str(path)}


class _Handler(BaseHTTPRequestHandler):
    server: Inference

    def do_GET(self) -> None:
        path = unquote(self.path)
        model = path.removeprefix("/status/")
        if self.path == "/health":
            self._send(200, {"status": "ok"})
        elif model == path or model not in self.server.tasks:
            self._send(404, {"error": "there is no such model"})
        else:
            self._send(200, {"loaded": self.server.modes.get(model) != "down", "model": model})

    def do_POST(self) -> None:
        given = self._given()
        path = unquote(self.path)
        model = path.removeprefix("/models/")
        if given is None:
            self._send(400, {"error": "a JSON object is expected"})
        elif self.path == "/fail" and given.get("mode") in MODES and isinstance(given.get("model"), str):
            self.server.modes[given["model"]] = given["mode"]
            self._send(200, {"model": given["model"], "mode": given["mode"]})
        elif model == path or model not in self.server.tasks:
            self._send(404, {"error": "there is no such model"})
        elif self.server.modes.get(model, "none") != "none":
            self._send(503, {"error": f"{model} is out of order"})
        else:
            tasks = self.server.tasks[model]
            task = given.get("task") if given.get("task") in tasks else min(tasks)
            self._send(200, self.server.run(model, str(task), given.get("inputs")))

    def _given(self) -> dict[str, Any] | None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > _MOST:
            return None
        try:
            given = json.loads(self.rfile.read(int(length)))
        except ValueError:
            return None
        return given if isinstance(given, dict) else None

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing: a test reads what is printed."""


def _text(task: str, inputs: Any, seed: int) -> str:
    said = inputs if isinstance(inputs, str) else json.dumps(inputs, ensure_ascii=False, sort_keys=True)
    if "classification" in task:
        return ("positive", "neutral", "negative")[seed % 3]
    if task in {"image-to-text", "visual-question-answering", "document-question-answering"}:
        return ("a cat on a sofa", "two boats in a harbour", "a street in the rain")[seed % 3]
    if task == "automatic-speech-recognition":
        return "the meeting begins at ten"
    if task == "summarization":
        return said.split(".")[0][:80]
    return f"{task}: {said[:200]}"


def _png(seed: int) -> bytes:
    """Return a picture of 16 by 16 dots in one colour."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    row = b"\0" + bytes((seed & 255, seed >> 8 & 255, seed >> 16 & 255)) * 16
    head = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row * 16)) + chunk(b"IEND", b"")


def _gif(seed: int) -> bytes:
    """Return two pictures of one dot, one after the other."""
    colours = bytes((seed & 255, seed >> 8 & 255, 0, 0, seed >> 16 & 255, 255))
    pictures = b"".join(
        b"\x21\xf9\x04\x04\x32\0\0\0\x2c\0\0\0\0\1\0\1\0\0\2\2" + dot + b"\0" for dot in (b"\x44\x01", b"\x4c\x01")
    )
    return b"GIF89a\1\0\1\0\x80\0\0" + colours + pictures + b";"


def _wave(path: Path, pitch: int) -> None:
    """Write a tone of a tenth of a second."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"".join(struct.pack("<h", int(8000 * math.sin(math.tau * pitch * n / 8000))) for n in range(800)))


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8003)
    parser.add_argument("--files", type=Path, default=None, help="Where pictures and sounds are written.")
    given = parser.parse_args()
    folder = given.files or Path(tempfile.mkdtemp(prefix="inference-"))
    folder.mkdir(parents=True, exist_ok=True)
    with Inference(folder, given.port) as service:
        print(service.url, flush=True)
        try:
            service.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()

"""A dictionary as an HTTP service: `GET /words/WORD` gives its meaning."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = {"comet": "a body of ice and dust that moves around the sun"}


class Dictionary(BaseHTTPRequestHandler):
    """Answers one request."""

    def do_GET(self) -> None:
        """Give the meaning of the word in the path."""
        meaning = WORDS.get(self.path.removeprefix("/words/"))
        body = json.dumps({"meaning": meaning}).encode()
        self.send_response(200 if meaning else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing about each request."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 8421), Dictionary) as server:
        print("the dictionary is ready", flush=True)
        server.serve_forever()

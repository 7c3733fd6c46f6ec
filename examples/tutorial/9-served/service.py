"""Orders and refunds of the shop, as an HTTP service on this machine."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

ORDERS = {"17": {"item": "A cake with cherries", "euros": 24}}
RECEIPTS: dict[str, dict[str, str]] = {}
"""What was paid, by the key of the request: the same key is never paid twice."""


class Shop(BaseHTTPRequestHandler):
    """Give orders, and pay money back."""

    def do_GET(self) -> None:
        order = ORDERS.get(self.path.removeprefix("/orders/"))
        self.answer(200 if order else 404, order or {"error": "there is no such order"})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers["Idempotency-Key"]
        self.answer(200, RECEIPTS.setdefault(key, {"receipt": f"R-{len(RECEIPTS) + 1}"}))

    def answer(self, status: int, value: dict[str, object] | dict[str, str]) -> None:
        """Send a value as JSON."""
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing: the console belongs to the commands."""


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 8420), Shop)
    print("ready on http://127.0.0.1:8420", flush=True)
    server.serve_forever()

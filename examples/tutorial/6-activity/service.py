"""The orders of the shop, as an HTTP service on this machine."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

ORDERS = {"17": {"item": "A cake with cherries", "euros": 24}}


class Orders(BaseHTTPRequestHandler):
    """Answer with an order, or with 404."""

    def do_GET(self) -> None:
        order = ORDERS.get(self.path.removeprefix("/orders/"))
        body = json.dumps(order or {"error": "there is no such order"}).encode()
        self.send_response(200 if order else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing: the console belongs to the commands."""


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", 8417), Orders)
    print("ready on http://127.0.0.1:8417", flush=True)
    server.serve_forever()

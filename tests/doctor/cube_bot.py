"""A bot of Battlecube that stands still. The fault `hasty` closes the connection if a request comes slowly."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, fault = int(sys.argv[1]), sys.argv[2]


class Bot(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answer = b'[{"task": "NOOP"}]'

    def do_POST(self) -> None:
        if fault == "hasty":
            self.connection.settimeout(0.3)
        self.rfile.read(int(self.headers["Content-Length"]))
        self.connection.settimeout(None)
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_: object) -> None: ...


ThreadingHTTPServer(("127.0.0.1", port), Bot).serve_forever()

"""A bot of Battlecube that stands still. The faults: `order` wants the player before the game,
`ascii` knows no other characters, and `again` does not answer a question that it has answered.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, fault = int(sys.argv[1]), sys.argv[2]
seen = set[bytes]()


class Bot(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answer = b'[{"task": "NOOP"}]'

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        question = json.loads(body)
        healthy = {
            "order": list(question).index("currentPlayer") < list(question).index("gameInfo"),
            "ascii": all(player["name"].isascii() for player in question["players"]),
            "again": body not in seen,
        }.get(fault, True)
        seen.add(body)
        answer = self.answer if healthy else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None: ...


if port:
    ThreadingHTTPServer(("127.0.0.1", port), Bot).serve_forever()
with ThreadingHTTPServer(("127.0.0.1", 0), Bot) as server:
    print(server.server_port, flush=True)
    server.serve_forever()

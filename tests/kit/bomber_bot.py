"""A bot of the Bomberman API that stands still.

The fault `hasty` waits only briefly for an answer.
"""

import json
import sys
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

url, name, password, fault = sys.argv[1:]


def call(path: str, message: dict[str, str] | None = None) -> dict[str, Any]:
    while True:
        with suppress(ConnectionError, HTTPException, HTTPError):
            data = json.dumps(message).encode() if message else None
            with urlopen(
                f"{url}/{path}", data, timeout=0.3 if fault == "hasty" else None
            ) as answer:
                found: dict[str, Any] = json.load(answer)
                return found


while True:
    user = call(f"register/{quote(name)}", {"password": password})["user_id"]
    state = call(f"state/{user}?after=0")
    while state["phase"] == "PLAYING":
        if state["alive"]:
            call(f"action/{user}", {"action": "WAIT"})
        state = call(f"state/{user}?after={state['state_number']}")

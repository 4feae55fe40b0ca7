"""The ini files of the original for statistics of boat games."""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from botdrome.server.rooms.boat_settings import BadPlan, pairs_in
from botdrome.server.rooms.counted_game import COUNTS
from botdrome.wire.boats.lines import text_of

LONGEST_NAME = 200
"""Bytes of a file's name that come from a player's name or a title."""
LINE_BREAKS = re.compile(r"[\r\n]+")
PLAYER_KEY = re.compile(r"player\.(.*)\.((?:total|last)\.[A-Za-z]+)")


def file_name(kind: str, name: str) -> str:
    """Return a safe file name: characters that mean something to file systems are
    percent-encoded.
    """
    safe = quote(name, safe=" !#$&'()+,;=@[]^{}~", errors="replace")
    while len(safe.encode()) > LONGEST_NAME:
        name = name[:-1]
        safe = quote(name, safe=" ", errors="replace") + "~"
    return f"{kind}.{safe}.ini"


def written(lines: Mapping[str, Any]) -> str:
    """Write sorted `key=value` lines; a list becomes a repeated key."""
    rows = []
    for key, value in sorted(lines.items()):
        rows += [f"{key}={_word(one)}" for one in (value if isinstance(value, list) else [value])]
    return "\n".join(rows) + "\n"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return LINE_BREAKS.sub(" ", str(value))  # nothing else changes, so that names stay different


def write_files(folder: Path, files: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
    """Replace each file in one step. Unchanged files are not written."""
    folder.mkdir(mode=0o750, parents=True, exist_ok=True)
    for (kind, name), lines in files.items():
        file_path, text = folder / file_name(kind, name), written(lines)
        if _says(file_path, text):
            continue
        handle, draft = tempfile.mkstemp(dir=folder, prefix=".", suffix=".new")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        Path(draft).replace(file_path)


def _says(file: Path, text: str) -> bool:
    return file.exists() and file.read_bytes() == text.encode(errors="replace")


def read_folder(folder: Path) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return lines by title and by TITLE|PLAYER, and lines by player. Other files are ignored."""
    games: dict[str, dict[str, Any]] = {}
    players: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("*.ini")):
        kind, _, rest = file.name.removesuffix(".ini").partition(".")
        try:
            lines = {
                key: _value(key, words)
                for key, words in pairs_in(text_of(file.read_bytes())).items()
            }
        except (OSError, BadPlan):
            continue
        if kind == "game":
            _take_game(str(lines.get("name") or unquote(rest)), lines, games)
        elif kind == "player":
            players[str(lines.get("playerName") or unquote(rest))] = lines
    return games, players


def _take_game(title: str, lines: dict[str, Any], games: dict[str, dict[str, Any]]) -> None:
    games[title] = {key: value for key, value in lines.items() if not PLAYER_KEY.fullmatch(key)}
    for key, value in lines.items():
        if found := PLAYER_KEY.fullmatch(key):
            games.setdefault(f"{title}|{found[1]}", {})[found[2]] = value


def _value(key: str, words: list[str]) -> Any:
    """Read counts and facts as such.

    All other values stay texts, so that they are written as they were read.
    """
    if key in ("boat", "ship"):
        return words
    word, player_key = words[-1], PLAYER_KEY.fullmatch(key)
    if (player_key[2] if player_key else key) in COUNTS:
        if word in ("true", "false"):
            return word == "true"
        return int(word) if re.fullmatch(r"\d{1,18}", word) else 0
    return words if len(words) > 1 and key not in ("name", "playerName") else word

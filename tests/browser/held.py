"""Contests of all formats that end, played by house bots."""

from pathlib import Path

from tests.cli.commands import run

GAME = "noughts-and-crosses"
BOTS = {"ada": "perfect", "bob": "blocker"} | dict.fromkeys(("cid", "dan", "eve", "fay"), "random")
"""The entrants: each is a house bot under a name of its own."""
FORMATS = {
    "round-robin": "",
    "gauntlet": 'champion = "ada"',
    "swiss": "rounds = 2",
    "knockout": "",
    "double-elimination": "",
    "groups": "groups = 2",
}
"""With the keys that each needs."""


def title_of(format_: str) -> str:
    return f"The {format_} of the year"


def path_of(format_: str) -> str:
    return f"/contests/{GAME}/{format_}"


def hold_contests(folder: Path) -> None:
    """Play all of them into the store that a server in this folder has."""
    entrants = "".join(
        f'[[entrants]]\nbot = "house:{bot}"\nname = "{name}"\n' for name, bot in BOTS.items()
    )
    for name, keys in FORMATS.items():
        file = folder / f"{name}.toml"
        file.write_text(
            f'name = "{name}"\ntitle = "{title_of(name)}"\ngame = "{GAME}"\nformat = "{name}"\n'
            f"{keys}\n{entrants}"
        )
        done = run("contest", "run", str(file), "--db", f"sqlite:///{folder}/botdrome.db")
        assert done.exit_code == 0, done.output

"""Draw docs/picture.svg: a match and a score table, as the terminal shows them."""

import re
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

from botdrome.bots.house import HOUSE, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.cli.pictures import drawn, frames
from botdrome.cli.standings import TournamentReport, score_table
from botdrome.match.match import Match
from botdrome.match.record import match_file, read
from botdrome.offline.tournament import TournamentPlan, play_all

FILE = Path(__file__).parents[1] / "docs" / "picture.svg"
BOTS = ("house:sapper", "house:random")
SEED, STEP = 3, 45


def main() -> None:
    console = Console(
        record=True, width=84, force_terminal=True, color_system="truecolor", file=StringIO()
    )
    row, names = CATALOGUE["bomberman"], ["ada", "bob", "cleo", "dan"]
    bots = [seated(HOUSE[row.name]["sapper"], player) for player in range(len(names))]
    match = simulate(Match(row.game, len(names), row.terms, SEED), bots)
    reel = frames(read(match_file(match, names)), row.game)
    console.print(Text("$ botdrome replay matches/bomberman-1-00001.jsonl", style="bold green"))
    console.print(drawn(row.name, reel[STEP]), "")
    console.print(
        Text("$ botdrome play bomberman house:sapper house:random -n 20", style="bold green")
    )
    report = TournamentReport(TournamentPlan("bomberman", BOTS, BOTS, seats=2, matches=20, seed=1))
    for outcome in play_all(report.plan, jobs=1):
        report.add(outcome)
    console.print(score_table(report, console.width))
    FILE.write_text(
        re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="botdrome"), flags=re.DOTALL)
    )


if __name__ == "__main__":
    main()

"""The formats of contests by the names that documents use."""

from botdrome.contest.formats.double_elimination import DoubleElimination
from botdrome.contest.formats.format import ContestFormat
from botdrome.contest.formats.gauntlet import Gauntlet
from botdrome.contest.formats.groups import Groups
from botdrome.contest.formats.knockout import Knockout
from botdrome.contest.formats.ladder import Ladder
from botdrome.contest.formats.round_robin import RoundRobin
from botdrome.contest.formats.swiss import Swiss

CONTEST_FORMATS: dict[str, ContestFormat] = {
    "round-robin": RoundRobin(),
    "gauntlet": Gauntlet(),
    "knockout": Knockout(),
    "double-elimination": DoubleElimination(),
    "swiss": Swiss(),
    "ladder": Ladder(),
    "groups": Groups(),
}

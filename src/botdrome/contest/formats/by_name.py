"""The formats of contests by the names that documents use."""

from botdrome.contest.formats.format import ContestFormat
from botdrome.contest.formats.round_robin import RoundRobin

CONTEST_FORMATS: dict[str, ContestFormat] = {"round-robin": RoundRobin()}

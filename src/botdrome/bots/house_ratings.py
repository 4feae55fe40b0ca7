"""The fixed ratings of the house bots, as they were measured once (`docs/house-bots.md`): the scale of all leaderboards."""

HOUSE_RATINGS: dict[str, dict[str, float]] = {
    "noughts-and-crosses": {"random": 1246, "blocker": 1543, "perfect": 1711},
    "bumblebots": {"random": 759, "forager": 1803, "surveyor": 1938},
    "gomoku": {"random": 758, "threat": 1625, "strategist": 2117},
    "battleship": {
        "skipper": 139,
        "random": 865,
        "drifter": 1333,
        "trawler": 1592,
        "gunner": 1885,
        "pilot": 1931,
        "plotter": 2014,
        "hunter": 2242,
    },
    "battlecube": {"random": 611, "dodger": 1439, "survivor": 1803, "stalker": 2146},
    "bomberman": {"random": 397, "sapper": 1148, "bombardier": 1852, "warden": 2603},
}

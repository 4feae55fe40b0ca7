"""Feed the positions of positions.jsonl to the bot.

`moves` lists the legal moves, if they can be listed.
"""

import json
import unittest
from pathlib import Path

from bot import bot

POSITIONS = Path(__file__).with_name("positions.jsonl").read_text().splitlines()


class Positions(unittest.TestCase):
    def test_moves_are_legal(self):
        for number, line in enumerate(POSITIONS, 1):
            with self.subTest(position=number):
                position = json.loads(line)
                move = bot(position["view"])
                self.assertIn(move, position.get("moves", [move]))


if __name__ == "__main__":
    unittest.main()

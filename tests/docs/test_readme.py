"""The example of the README works."""

import json
import re
from pathlib import Path

from typer.testing import CliRunner

from botdrome.cli.app import app

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_bot_of_the_readme_plays(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    file = tmp_path / "my_bot.py"
    file.write_text(code)
    command = re.search(
        r"`botdrome (play noughts-and-crosses my_bot\.py house:random -n 200)`", README
    )
    assert command is not None
    words = [str(file) if word == "my_bot.py" else word for word in command[1].split()]
    result = CliRunner().invoke(app, [*words, "--json"])
    data = json.loads(result.stdout)
    assert len(data["matches"]) == 200
    assert all(row["faults"] == {} for row in data["standings"])

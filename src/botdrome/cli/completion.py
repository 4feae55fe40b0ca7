"""Words that the shell completes."""


def game_names(incomplete: str) -> list[str]:
    from botdrome.formats import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]

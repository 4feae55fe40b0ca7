"""Words that the shell completes."""


def game_names(incomplete: str) -> list[str]:
    from botdrome.catalogue import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]

"""The options of `botdrome serve`, one per setting."""

from functools import cache
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from botdrome.protocols import protocol_sections
from botdrome.server.settings_sources import Setting, all_settings, sections_of

OLD_FLAGS = ("xbs_port",)
"""Flags of former names."""


@cache
def setting_options() -> list[Any]:
    """Return an option of the command line for each setting, in a panel for each section."""
    sections, settings = sections_of(protocol_sections()), list(all_settings(protocol_sections()))

    def serve(**_: str | None) -> None:
        """Carries the options."""

    options = {one.name: _option(one, sections[one.section].__doc__ or "") for one in settings}
    options |= {old: Annotated[str | None, typer.Option(f"--{old.replace('_', '-')}", hidden=True)] for old in OLD_FLAGS}
    kind = Parameter.KEYWORD_ONLY
    serve.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, kind, default=None, annotation=option) for name, option in options.items()]
    )
    serve.__annotations__ = options
    carrier = typer.Typer(add_completion=False)
    carrier.command(add_help_option=False)(serve)
    return list(typer.main.get_command(carrier).params)


def _option(setting: Setting, panel: str) -> Any:
    default = f" \\[default: {str(setting.default).lower()}]" if setting.default not in ("", (), None) else ""
    meaning = setting.meaning.replace("[", "\\[")
    flag = f"--{setting.name.replace('_', '-')}"
    return Annotated[str | None, typer.Option(flag, metavar="VALUE", help=meaning + default, rich_help_panel=panel)]

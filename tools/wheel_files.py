"""A hatchling build hook that adds the pages, the documentation and third-party files to the wheel,
so that users need no node.
"""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelFiles(BuildHookInterface[Any]):
    """Adds the files to wheels, not to editable installations: there `make setup` fetches them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root)))
        from tools import docs, graphiql, socketio, web

        try:
            if not graphiql.installed(graphiql.TARGET):
                graphiql.install(graphiql.TARGET)
            socketio.install_page(socketio.TARGET)
            web.build()
            docs.build()
        except graphiql.Failure as failure:
            sys.exit(
                "The wheel cannot be built without the pages, the documentation and the files of "
                f"GraphiQL and socket.io: {failure}"
            )

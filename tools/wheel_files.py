"""A build hook of hatchling: put the pages and files of other projects into the wheel, so that its users need no node."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelFiles(BuildHookInterface[Any]):
    """An editable installation needs none of it: `make setup` fetches the files by itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root)))
        from tools import graphiql, socketio, web

        try:
            if not graphiql.installed(graphiql.TARGET):
                graphiql.install(graphiql.TARGET)
            socketio.install_page(socketio.TARGET)
            web.build()
        except graphiql.Failure as failure:
            sys.exit(f"The wheel cannot be built without the pages and the files of GraphiQL and socket.io: {failure}")

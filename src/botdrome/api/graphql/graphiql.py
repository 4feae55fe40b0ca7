"""GraphiQL, from the files that were installed at set-up; a plain page of our own where there are none."""

from starlette.responses import FileResponse, Response

from botdrome.api.pages import CSP, STATIC

GRAPHIQL_CSP = (
    f"{CSP}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws: wss:"
)
"""GraphiQL writes styles into its page. Some browsers do not take a WebSocket to the same place for 'self'."""
INSTALLED = STATIC / "graphiql"


def graphiql() -> Response:
    name = "graphiql.html" if (INSTALLED / "graphiql.min.js").exists() else "query.html"
    return FileResponse(STATIC / name, headers={"content-security-policy": GRAPHIQL_CSP, "vary": "accept"})

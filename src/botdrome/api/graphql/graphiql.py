"""GraphiQL, from the files that were installed at set-up; a plain page of our own where there are none."""

from starlette.responses import FileResponse, Response

from botdrome.api.pages import CSP, STATIC

INSTALLED = STATIC / "graphiql"


def graphiql() -> Response:
    name = "graphiql.html" if (INSTALLED / "graphiql.min.js").exists() else "query.html"
    return FileResponse(STATIC / name, headers={"content-security-policy": CSP, "vary": "accept"})

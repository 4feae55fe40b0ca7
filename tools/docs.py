"""Build the documentation site from `docs/` into the package, which serves it at /docs.

    python -m tools.docs

The site generator has an environment of its own, with the versions of `tools/docs.lock`. A broken
link fails the build. The build does nothing if the site in the package was built from the same
sources.
"""

import base64
import hashlib
import re
import shutil
import sys
import venv
from pathlib import Path

from tools.graphiql import Failure, run
from tools.socketio import alone

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "botdrome" / "api" / "site"
SITE = ROOT / "site"
LOCK = ROOT / "tools" / "docs.lock"
GENERATOR = ROOT / ".venv" / "docs"
STAMP, POLICY = "sources.sha256", "policy.txt"
INLINE = re.compile(r"<script(?![^>]*\b(?:src|type)=)[^>]*>(.*?)</script>", re.DOTALL)
"""Scripts within a page. Those with a type are data."""
INSERTED = "'sha256-NwSx/R2V/U4jnW0Tq5pQ53Y/rzPVJ4dqE7D6UTA/J1k='"
"""The style that the search of the locked generator inserts."""
STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)


def main() -> int:
    try:
        build()
    except Failure as failure:
        sys.stderr.write(f"The documentation could not be built: {failure}\n")
        return 1
    return 0


def build() -> None:
    stamp, wanted = TARGET / STAMP, digest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    GENERATOR.mkdir(parents=True, exist_ok=True)
    with alone(GENERATOR.parent):
        install_generator()
        shutil.rmtree(SITE, ignore_errors=True)
        run([str(GENERATOR / "bin" / "zensical"), "build", "--strict"], ROOT)
        shutil.rmtree(TARGET, ignore_errors=True)
        shutil.move(SITE, TARGET)
    (TARGET / POLICY).write_text(policy_of(TARGET))
    stamp.write_text(wanted)


def install_generator() -> None:
    stamp, wanted = GENERATOR / ".installed", LOCK.read_text()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    venv.create(GENERATOR, clear=True)
    pip = [sys.executable, "-m", "pip", "--python", str(GENERATOR), "install", "--quiet"]
    options = ["--disable-pip-version-check", "--no-compile", "--no-deps", "--require-hashes"]
    run([*pip, *options, "-r", str(LOCK)], ROOT)
    stamp.write_text(wanted)


def policy_of(folder: Path) -> str:
    """The Content-Security-Policy of the site: only its own files, and the scripts in its pages."""
    scripts, styles = set[str](), set[str]()
    for page in sorted(folder.rglob("*.html")):
        text = page.read_text()
        scripts |= {_hashed(script) for script in INLINE.findall(text)}
        styles |= {_hashed(style) for style in STYLE.findall(text)}
    own, other = " ".join(sorted(scripts)), " ".join(sorted(styles | {INSERTED}))
    return (
        f"default-src 'self'; script-src 'self' {own}; style-src 'self' {other}; img-src 'self' "
        "data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def digest() -> str:
    """Return the hash of all sources of the site."""
    sources = hashlib.sha256()
    extra = [
        Path(__file__),
        ROOT / "mkdocs.yml",
        ROOT / "CHANGELOG.md",
        ROOT / "CONTRIBUTING.md",
        LOCK,
    ]
    for file in sorted([*extra, *(one for one in (ROOT / "docs").rglob("*") if one.is_file())]):
        sources.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return sources.hexdigest()


if __name__ == "__main__":
    sys.exit(main())

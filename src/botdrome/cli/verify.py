"""`botdrome verify`: checks match files and archives of contests, and their signatures."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Annotated

from rich.text import Text
from typer import Argument, Option

from botdrome.catalogue import restored
from botdrome.cli.terminal import CommandError, command, progress_bar, say
from botdrome.games.reading import plural
from botdrome.match.record import BadRecord, verify
from botdrome.store.contest_archive import ArchiveDifference, check_archive


@command(name="verify")
def verify_command(
    files: Annotated[list[Path], Argument(help="Match files, or archives of contests (*.zip).")],
    key: Annotated[
        Path | None,
        Option(metavar="FILE", help="Also check the signatures of archives with this public key."),
    ] = None,
) -> int:
    """Replay match files and archives of contests, and report the first difference in each.

    Of an archive, every match is simulated again, and every pairing, table and rating is computed.

    Ends with status 0 if all is as the files say, 1 if not.
    """
    good = [_holds(file, key) for file in files]
    return 0 if all(good) else 1


def _holds(path: Path, key: Path | None) -> bool:
    """Tell whether a file holds, and what differs if it does not."""
    text = Text(str(path))
    try:
        words = archive_verdict(path, key) if path.suffix == ".zip" else _match_verdict(path)
    except (BadRecord, ArchiveDifference, OSError) as problem:
        text.stylize("bold red")
        say(text.append(f": {problem}", "not bold default"))
        return False
    text.stylize("green")
    say(text.append(f": {words}", "default"))
    return True


def _match_verdict(path: Path) -> str:
    record, game = restored(path.read_bytes())
    verify(record, game)
    unfinished = "" if record.result else "; the match has no result yet"
    return f"{plural(len(record.lines), 'input')} hold{'s' * (len(record.lines) == 1)}{unfinished}"


NAMESPACE = "botdrome-contest"
ORGANISER = "organiser"


def archive_verdict(file: Path, key: Path | None) -> str:
    """Say that an archive holds. Raise ArchiveDifference if it does not."""
    if key is not None:
        check_signature(file, key)
    with progress_bar() as bar:
        task = bar.add_task("matches", total=None)
        manifest, contest = check_archive(
            file, lambda done, total: bar.update(task, completed=done, total=total)
        )
    played = sum(bool(result.match) for result in contest.results.values())
    signed = f", signed with {key}" if key else ""
    counts = f"{plural(played, 'match', 'es')}, {plural(len(contest.entrants), 'entrant')}"
    return f"{manifest.name} holds: {counts}{signed}"


def sign(file: Path, key: Path) -> Path:
    """Sign a file with an SSH key, and return the file of the signature."""
    signature = file.with_name(file.name + ".sig")
    signature.unlink(missing_ok=True)
    done = _ssh_keygen("sign", "-f", str(key), "-n", NAMESPACE, str(file))
    if done.returncode:
        raise CommandError(
            f"{key} cannot sign: {_last_line(done)}; create a key with: ssh-keygen -t ed25519 -f "
            "organiser"
        )
    return signature


def check_signature(file: Path, key: Path) -> None:
    """Raise ArchiveDifference unless the organiser with this public key signed the file."""
    signature = file.with_name(file.name + ".sig")
    if not signature.exists():
        raise ArchiveDifference(f"there is no signature {signature.name} beside it")
    public = key if key.suffix == ".pub" else key.with_name(key.name + ".pub")
    with TemporaryDirectory() as folder, file.open("rb") as data:
        allowed = Path(folder) / "allowed"
        allowed.write_text(f"{ORGANISER} {public.read_text()}")
        done = _ssh_keygen(
            "verify",
            "-f",
            str(allowed),
            "-I",
            ORGANISER,
            "-n",
            NAMESPACE,
            "-s",
            str(signature),
            stdin=data,
        )
    if done.returncode:
        raise ArchiveDifference(f"it was not signed with {public}: {_last_line(done)}")


def _ssh_keygen(
    action: str, *words: str, stdin: IO[bytes] | None = None
) -> "subprocess.CompletedProcess[str]":
    program = shutil.which("ssh-keygen")
    if program is None:
        raise CommandError("--key needs ssh-keygen; on Debian: apt-get install openssh-client")
    return subprocess.run(
        [program, "-Y", action, *words], stdin=stdin, capture_output=True, text=True, check=False
    )


def _last_line(done: "subprocess.CompletedProcess[str]") -> str:
    return (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]

"""Archives of uploads: what is packed comes back, and everything else than plain files is refused."""

import io
import struct
import zipfile
from typing import Any

import pytest

from botdrome.wire.upload import (
    BadUpload,
    PackedFile,
    UploadLimits,
    check_path,
    listed,
    packed,
    unpacked,
)

LIMITS = UploadLimits(packed=100_000, unpacked=10_000, files=5)
FILES = {
    "bot.toml": PackedFile(b'command = "view:./bot"'),
    "bot": PackedFile(b"#!/bin/sh\n", executable=True),
    "src/deep/ä.txt": PackedFile(b""),
}


def archive(
    *entries: tuple[str, bytes], mode: int = 0, compression: int = zipfile.ZIP_DEFLATED
) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as target:
        for name, data in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            target.writestr(info, data, compression)
    return file.getvalue()


def refusal(data: bytes, limits: UploadLimits = LIMITS) -> str:
    """Why an archive is refused, whether it is unpacked or not."""
    with pytest.raises(BadUpload) as why:
        unpacked(data, limits)
    with pytest.raises(BadUpload) as other:
        listed(data, limits)
    assert str(why.value) == str(other.value)
    return str(why.value)


def test_files_come_back_as_they_were_packed() -> None:
    data = packed(FILES)
    assert unpacked(data, LIMITS) == FILES
    assert listed(data, LIMITS) == {"bot": 10, "bot.toml": 22, "src/deep/ä.txt": 0}
    assert packed(dict(reversed(FILES.items()))) == data, "the order does not count"


def test_archives_of_other_tools_are_read() -> None:
    data = archive(("src/", b""), ("src/bot.py", b"x"), compression=zipfile.ZIP_STORED)
    assert unpacked(data, LIMITS) == {"src/bot.py": PackedFile(b"x")}


@pytest.mark.parametrize(
    "path",
    ["../bot.py", "/etc/passwd", "a/../../b", "a//b", "./bot.py", "..", ".", "", "a/./b", "//"],
)
def test_paths_that_lead_out_of_the_folder_are_refused(path: str) -> None:
    assert "leads out of the folder of the bot" in refusal(archive((path, b"x")))


@pytest.mark.parametrize("path", ["a\\..\\b", "C:\\bot", "a" * 201, "a\nb", "a\x7fb"])
def test_odd_paths_are_refused(path: str) -> None:
    assert "printable characters, and no backslash" in refusal(archive((path, b"x")))
    with pytest.raises(BadUpload):
        check_path(path)


def test_a_path_with_nul_is_refused() -> None:
    data = archive(("bot.py?.png", b"x")).replace(b"bot.py?.png", b"bot.py\0.png")
    assert "printable characters" in refusal(data)


def test_every_path_is_checked_before_folders_are_looked_for() -> None:
    data = archive(("x", b""), ("/" * 201 + "x", b""), mode=0o120000)
    assert "printable characters" in refusal(data), "the link comes later"


def test_a_file_with_a_second_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def decode(entry: zipfile.ZipInfo, *_: Any) -> None:
        """As newer versions of Python do with the field for a name in Unicode."""
        entry.filename = "../b"

    monkeypatch.setattr(zipfile.ZipInfo, "_decodeExtra", decode)
    assert refusal(archive(("a", b"x"))) == "'a' has two names"


@pytest.mark.parametrize("kind", [0o120000, 0o010000, 0o020000, 0o060000, 0o140000, 0o040000])
def test_links_and_special_files_are_refused(kind: int) -> None:
    assert refusal(archive(("x", b"/etc/passwd"), mode=kind | 0o777)) == (
        "'x' is a link or a special file"
    )


def test_a_file_that_calls_itself_a_folder_is_refused() -> None:
    assert "is a link or a special file" in refusal(archive(("x/", b""), mode=0o100644))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_path_twice_is_refused() -> None:
    assert refusal(archive(("a", b"1"), ("a", b"2"))) == "'a' is there twice"
    assert refusal(archive(("a", b"1"), ("a/b", b"2"))) == "'a' is there twice"


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(compression: int) -> None:
    assert "another way than deflate" in refusal(archive(("a", b"1"), compression=compression))


def test_encrypted_files_are_refused() -> None:
    data = bytearray(archive(("a", b"1")))
    central = data.index(b"PK\x01\x02")
    data[central + 8] |= 1
    assert "encrypted" in refusal(bytes(data))


def test_too_much_is_refused() -> None:
    many = archive(*((str(number), b"") for number in range(6)))
    assert refusal(many) == "it has 6 files; at most 5 are allowed"
    large = archive(("a", bytes(6000)), ("b", bytes(6000)))
    assert refusal(large) == "its files have 12000 bytes; at most 10000 are allowed"
    small = UploadLimits(packed=50, unpacked=10_000, files=5)
    assert "at most 50 are allowed" in refusal(packed(FILES), small)


def test_a_bomb_that_lies_about_its_size_unpacks_no_more_than_it_announces() -> None:
    data = bytearray(archive(("a", bytes(5_000_000))))
    central = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, central + 24, 100)
    struct.pack_into("<I", data, 22, 100)
    assert listed(bytes(data), LIMITS) == {"a": 100}
    with pytest.raises(BadUpload, match="damaged: Bad CRC-32"):
        unpacked(bytes(data), LIMITS)


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip", bytes(1000), packed(FILES)[:-10]])
def test_other_files_are_refused(data: bytes) -> None:
    assert refusal(data).startswith("this is no zip archive")


def test_every_changed_byte_gives_files_within_the_limits_or_a_refusal() -> None:
    whole = packed(FILES)
    for place in range(len(whole)):
        for value in (0x00, 0xFF, whole[place] ^ 0x01, whole[place] ^ 0x80):
            changed: Any = bytearray(whole)
            changed[place] = value
            try:
                files = unpacked(bytes(changed), LIMITS)
            except BadUpload:
                continue
            assert sum(len(file.data) for file in files.values()) <= LIMITS.unpacked
            for path in files:
                check_path(path)

"""The line that says why a program crashed, in the formats of many languages."""

import shutil
import subprocess

import pytest

from botdrome.client.program import meaningful_line

PYTHON = """thinking
Traceback (most recent call last):
  File "/home/me/bot.py", line 7, in <module>
    main()
  File "/home/me/bot.py", line 3, in main
    return view["x"]
           ~~~~^^^^^
KeyError: 'x'
"""
NODE = """/home/me/bot.js:3
    foo.bar();
        ^

TypeError: Cannot read properties of undefined (reading 'bar')
    at Object.<anonymous> (/home/me/bot.js:3:5)
    at Module._compile (node:internal/modules/cjs/loader:1356:14)

Node.js v20.11.0
"""
NODE_CODED = """node:fs:601
  handleErrorFromBinding(ctx);
  ^

Error: ENOENT: no such file or directory, open 'x'
    at Object.openSync (node:fs:601:3) {
  errno: -2,
  code: 'ENOENT'
}

Node.js v20.11.0
"""
JAVA = """Exception in thread "main" java.lang.NullPointerException: board is null
\tat Main.main(Main.java:5)
"""
GO = """panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.main()
\t/home/me/bot.go:7 +0x1d
exit status 2
"""
RUST = """thread 'main' panicked at src/main.rs:3:5:
index out of bounds: the len is 3 but the index is 5
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
CSHARP = """Unhandled exception. System.NullReferenceException: Object reference not set to an instance of an object.
   at Program.Main(String[] args) in /home/me/Program.cs:line 5
"""
CPP = """terminate called after throwing an instance of 'std::out_of_range'
  what():  vector::_M_range_check: __n (which is 5) >= this->size() (which is 3)
"""
RUBY = """bot.rb:3:in 'Integer#/': divided by 0 (ZeroDivisionError)
\tfrom bot.rb:3:in '<main>'
"""
FATAL = """Fatal Python error: Segmentation fault

Current thread 0x0000ffff8d2c6020 (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/home/me/bot.py", line 3 in bot

Extension modules: msgspec._core (total: 1)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PYTHON, "KeyError: 'x' (line 3 of bot.py)"),
        (NODE, "TypeError: Cannot read properties of undefined (reading 'bar')"),
        (NODE_CODED, "Error: ENOENT: no such file or directory, open 'x'"),
        (JAVA, "java.lang.NullPointerException: board is null"),
        (GO, "runtime error: index out of range [5] with length 3"),
        (RUST, "index out of bounds: the len is 3 but the index is 5: panicked at src/main.rs:3:5"),
        (
            CSHARP,
            "System.NullReferenceException: Object reference not set to an instance of an object.",
        ),
        (CPP, "vector::_M_range_check: __n (which is 5) >= this->size() (which is 3)"),
        (RUBY, "bot.rb:3:in 'Integer#/': divided by 0 (ZeroDivisionError)"),
        (FATAL, "Segmentation fault (line 3 of bot.py)"),
        ("Fatal Python error: it is over", "it is over"),
        ("Traceback (most recent call last):\n", ""),
        ("one\nthe end\n\n", "the end"),
        ("", ""),
    ],
)
def test_the_line_that_names_the_error(text: str, line: str) -> None:
    assert meaningful_line(text) == line


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_a_crash_of_node() -> None:
    crash = subprocess.run(
        ["node", "-e", "const view = {}; view.board.length"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert meaningful_line(crash.stderr).startswith(
        "TypeError: Cannot read properties of undefined"
    )

"""Headers of all HTTP answers: browsers must not guess types, nor show answers inside
other pages.
"""

SAFE_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
)
LINES = "".join([f"{name}: {value}\r\n" for name, value in SAFE_HEADERS])


def plain_answer(status: str, words: str, fields: str = "", media: str = "text/plain") -> bytes:
    """Return a whole answer in ASCII text, after which the connection is closed.

    `fields` are more header lines.
    """
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\n{fields}{LINES}Content-Type: {media}\r\n"
    return f"{head}Content-Length: {len(words)}\r\n\r\n{words}".encode()

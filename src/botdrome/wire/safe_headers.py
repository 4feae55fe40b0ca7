"""Headers for all HTTP answers: browsers are to take them for what they say they are, and not to show them inside other pages."""

SAFE_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
)
LINES = "".join([f"{name}: {value}\r\n" for name, value in SAFE_HEADERS])


def plain_answer(status: str, words: str, fields: str = "", media: str = "text/plain") -> bytes:
    """A whole answer in ASCII text, after which the connection is closed. `fields`: more lines of the head."""
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\n{fields}{LINES}Content-Type: {media}\r\n"
    return f"{head}Content-Length: {len(words)}\r\n\r\n{words}".encode()

"""Text from programs and replies, made safe for a terminal.

Invariant: what comes out holds no control character but line breaks and tabs. Sources, error messages and reasons
are written by a model, and an escape sequence in them would steer the terminal of whoever looks.
"""

from __future__ import annotations


def visible(text: object) -> str:
    """The text, with characters that do not print written as Python escapes them."""
    return "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in str(text))

"""Reading a program out of a policy's reply.

Invariant: the program is a literal piece of the reply, never repaired: what the policy wrote is judged.
Works on text alone; whether it is Python is for the sandbox to say.
"""

import re

MAX_REPLY = 200_000  # characters; a longer reply holds no program anyone wants
_REASONING = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL)
_OPEN_REASONING = re.compile(r"<(?:think|thinking|reasoning)>.*\Z", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_CLASS = re.compile(r"^class\s+\w+\s*\(.*\bEnvironment\b", re.MULTILINE)
_IMPORT = r"import\s+[\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+)*\s*(?:#.*)?$|from\s+\S+\s+import\s"
_START = re.compile(rf"^(?:{_IMPORT}|class\s+\w)", re.MULTILINE)
_CODE_LINE = re.compile(rf"[\s#@)\]}}\"']|{_IMPORT}|class\s|def\s|\w+\s*(?::[^=]*)?=(?!=)|if\s.*:$")


class ReplyUnparsable(ValueError):
    """The reply holds no program."""


def parse_reply(text: str) -> str:
    """The source of the last program in the reply, with a final newline. Raises ReplyUnparsable.

    Reasoning before the answer is skipped; of several fenced blocks the last one that holds an Environment
    counts; without fences the code is cut out of the prose around it.
    """
    if len(text) > MAX_REPLY:
        raise ReplyUnparsable("the reply is too long")
    answer = _OPEN_REASONING.sub("", _REASONING.sub("", text))
    programs = [block for block in _blocks(answer) if _CLASS.search(block)]
    if not programs and _CLASS.search(answer):
        programs = [_cut(answer)]
    if not programs:
        raise ReplyUnparsable("no class derived from Environment")
    return programs[-1].strip("\n") + "\n"


def _blocks(text: str) -> list[str]:
    """The contents between fences; a block that is never closed runs to the end."""
    fences = list(_FENCE.finditer(text))
    ends = [fence.start() for fence in fences[1::2]]
    if len(fences) % 2:
        ends.append(len(text))
    return [text[opening.end() : end] for opening, end in zip(fences[::2], ends, strict=True)]


def _cut(text: str) -> str:
    """The code of a reply without fences: from its first line of code to the first prose after the class."""
    start = _START.search(text)
    lines = text[start.start() if start else 0 :].split("\n")
    seen_class = False
    kept: list[str] = []
    for line in lines:
        seen_class = seen_class or bool(_CLASS.match(line))
        if line and not _CODE_LINE.match(line):
            if seen_class:
                break
            kept.clear()  # prose between an example of an import and the program itself
            continue
        kept.append(line)
    return "\n".join(kept)

"""Reading a program out of a policy's reply.

Invariant: the program is a literal piece of the reply, never repaired: what the policy wrote is judged. Only what
Markdown says is no part of a block is taken off: the indentation of its fence, or of a block that is indented whole.
Works on text alone; whether it is Python is for the sandbox to say.
"""

import re
import textwrap
from collections.abc import Iterator

MAX_REPLY = 200_000  # characters; a longer reply holds no program anyone wants
_THOUGHT = r"think|thinking|thought|thoughts|reasoning|analysis|scratchpad|reflection"
_OPENING = rf"<(?:{_THOUGHT})>|\[THINK\]|<\|begin_of_thought\|>|<\|channel\|>analysis|◁think▷"
_CLOSING = rf"</(?:{_THOUGHT})>|\[/THINK\]|<\|end_of_thought\|>|<\|channel\|>final(?:<\|message\|>)?|◁/think▷"
_REASONING = re.compile(rf"\A.*(?:{_CLOSING})", re.DOTALL)
_OPEN_REASONING = re.compile(rf"(?:{_OPENING}).*\Z", re.DOTALL)
_LAST_TOKENS = re.compile(r"(?:\s*(?:<\|[\w ]{1,30}\|>|</s>|<eos>|<end_of_turn>))+\s*\Z")
_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)")
_LATE_FENCE = re.compile(r"(?P<indent>).*?(?P<mark>`{3,})(?P<info>(?:python3?|py)?)[ \t]*")
_CLASS = re.compile(r"^class\s+\w+\s*\(.*\bEnvironment\b", re.MULTILINE)
_INDENTED_CLASS = re.compile(r"^([ \t]+)class\s+\w+\s*\(.*\bEnvironment\b", re.MULTILINE)
_SAMPLE = re.compile(r"^\s+def\s+sample\b", re.MULTILINE)
_IMPORT = r"import\s+[\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+)*\s*(?:#.*)?$|from\s+\S+\s+import\s"
_START = re.compile(rf"^(?:{_IMPORT}|class\s+\w)", re.MULTILINE)
_CODE_LINE = re.compile(
    rf"[\s#@)\]}}\"']|{_IMPORT}|class\s|(?:async\s+)?def\s"
    r"|[\w.]+(?:\[[^\]]*\])?(?:\s*,\s*\*?[\w.]+)*\s*(?::[^=]*)?[-+*/|&]?=(?!=)"
    r"|(?:if|elif|while|with|except)\b.*:\s*(?:#.*)?$|for\s.+\sin\s.*:|(?:try|else|finally)\s*:|assert\s"
    r"|[\w.]+\(.*\)\s*(?:#.*)?$"
)
_QUOTES = re.compile(r"\\.|'''|\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|#[^\n]*")


class ReplyUnparsable(ValueError):
    """The reply holds no program."""


def parse_reply(text: str) -> str:
    """The source of the last program in the reply, with a final newline. Raises ReplyUnparsable.

    Reasoning before the answer is skipped; of several fenced blocks the last one that holds an Environment with a
    `sample` counts, else the last with an Environment; without fences the code is cut out of the prose around it.
    """
    if len(text) > MAX_REPLY:
        raise ReplyUnparsable("the reply is too long")
    answer = _answer(text)
    programs = [block for block in _blocks(answer) if _CLASS.search(block)]
    if not programs and (plain := _unfenced(answer)):
        programs = [plain]
    if not programs:
        raise ReplyUnparsable("no class derived from Environment")
    whole = [program for program in programs if _SAMPLE.search(program)]
    return (whole or programs)[-1].strip("\n") + "\n"


def _answer(text: str) -> str:
    """The reply without reasoning and without the tokens that end it."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return _LAST_TOKENS.sub("", _OPEN_REASONING.sub("", _REASONING.sub("", text)))


def _blocks(text: str) -> Iterator[str]:
    """The contents between fences; a block that is never closed runs to the next opening one, or to the end."""
    opening: re.Match[str] | None = None
    kept: list[str] = []
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if opening is None:
            # A fence stands at the start of a line, but models also put one behind "Here it is:".
            opening, kept = fence or _LATE_FENCE.fullmatch(line), []
        elif fence is not None and _closes(fence, opening):
            yield _dedented(kept, opening["indent"])
            opening, kept = (fence, []) if fence["info"].strip() else (None, [])
        elif line.rstrip().endswith(opening["mark"]):  # glued to the last line of code
            yield _dedented([*kept, line.rstrip().removesuffix(opening["mark"])], opening["indent"])
            opening = None
        else:
            kept.append(line)
    if opening is not None:
        yield _dedented(kept, opening["indent"])


def _closes(fence: re.Match[str], opening: re.Match[str]) -> bool:
    return fence["mark"].startswith(opening["mark"])


def _dedented(lines: list[str], indent: str) -> str:
    return "\n".join(line.removeprefix(indent) for line in lines)


def _unfenced(text: str) -> str:
    """The program in a text without fences that count, indented whole or not; empty where there is none."""
    if _CLASS.search(text):
        return _cut(text)
    if (found := _INDENTED_CLASS.search(text)) is None:
        return ""
    block = [line for line in text.split("\n") if not line.strip() or line.startswith(found[1])]
    return _cut(textwrap.dedent("\n".join(block)))


def _cut(text: str) -> str:
    """The code of a reply without fences: from its first line of code to the first prose after the class."""
    start = _START.search(text)
    seen_class = False
    kept: list[str] = []
    quote = ""  # of a text over several lines that is open: in it anything is code
    for line in text[start.start() if start else 0 :].split("\n"):
        inside, quote = bool(quote), _open_quote(line, quote)
        if not inside:
            seen_class = seen_class or bool(_CLASS.match(line))
            if line and not _CODE_LINE.match(line):
                if seen_class:
                    break
                kept.clear()  # prose between an example of an import and the program itself
                quote = ""
                continue
        kept.append(line)
    return "\n".join(kept)


def _open_quote(line: str, quote: str) -> str:
    """The triple quote that is open at the end of a line; `quote` is the one open at its start."""
    at = 0
    if quote:
        closed = line.find(quote)
        if closed < 0:
            return quote
        at, quote = closed + 3, ""
    while found := _QUOTES.search(line, at):
        at = found.end()
        if found[0] in ("'''", '"""'):
            closed = line.find(found[0], at)
            if closed < 0:
                return found[0]
            at = closed + 3
    return ""

"""The trusted end of the boundary: strict reading of what a hostile child wrote.

Invariant: nothing is returned that is not finite, shallow, well-formed UTF-8 data of the expected shape. Cost is
bounded by the byte cap that the reader of the pipe keeps. Knows no processes.
"""

import json
import math
import re
from typing import Any, NoReturn

from envpool.sandbox.results import Fault, FaultKind, Result, Value
from envpool.signatures import LIMITS, IllegalValue, from_wire

MAX_DEPTH = 3 * LIMITS.max_depth + 8  # a dict of depth one is three deep on the wire
MAX_REQUEST = 4 << 20  # bytes
MAX_BUNDLE = 1900 << 10  # characters of programs for one search, which as JSON within JSON may be twice as many bytes
_MAX_DETAIL = 600
_REPORTABLE = (FaultKind.CODE_ERROR, FaultKind.ILLEGAL_VALUE, FaultKind.MEM_LIMIT, FaultKind.OUTPUT_LIMIT)
_SURROGATE = re.compile("[\ud800-\udfff]")
_REPORT_TEXTS = ("name", "rule", "domain", "codomain", "oracle", "normal", "stripped", "skeleton")


class Malformed(ValueError):
    """Bytes or data that an honest child does not send."""


def request(identity: int, method: str, args: tuple[Any, ...]) -> bytes:
    """One framed request. Raises Malformed where the arguments are no JSON or too large."""
    try:
        body = _ENCODER.encode([identity, method, args]).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"arguments are no wire form: {error}") from None
    if len(body) > MAX_REQUEST:
        raise Malformed(f"arguments of {len(body)} bytes")
    return len(body).to_bytes(4, "big") + body


def strict_loads(body: bytes) -> Any:
    """JSON without NaN, Infinity, overflow, lone surrogates, repeated keys or deep nesting. Raises Malformed."""
    try:
        text = body.decode("utf-8", "strict")
        data = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not strict JSON: {str(error)[:80]}") from None
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH:
        _check_depth(data)
    if b"\\u" in body and _SURROGATE.search(json.dumps(data, ensure_ascii=False)):
        raise Malformed("a lone surrogate")
    return data


def read_reply(body: bytes, identity: int, method: str) -> Result:
    """The result in a reply frame. Raises Malformed: then the child lied and must go."""
    if (plain := _PLAIN.get(method)) is not None:
        start = b'[%d,"value",' % identity
        if body.startswith(start) and (result := plain.get(body[len(start) :])):
            return result
    reply = strict_loads(body)
    if type(reply) is not list or len(reply) != 3 or type(reply[0]) is not int or reply[0] != identity:
        raise Malformed("not the reply to this call")
    _, kind, content = reply
    if kind == "part" and method == "search":
        return Value(_step(content))
    if kind == "value":
        return Value(_VALIDATORS[method](content))
    if kind not in _REPORTABLE or type(content) is not str:
        raise Malformed("not a kind of fault a child reports")
    return Fault(FaultKind(kind), content[:_MAX_DETAIL])


def _refuse(text: str) -> NoReturn:
    raise Malformed(f"{text} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Malformed("a number overflows")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise Malformed("a repeated key")
    return data


def _check_depth(data: Any) -> None:
    level, depth = [data], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise Malformed(f"nested deeper than {MAX_DEPTH}")
        level = [
            part
            for item in level
            if isinstance(item, (list, dict))
            for part in (item.values() if isinstance(item, dict) else item)
        ]


def _wire(content: Any) -> Any:
    try:
        from_wire(content)
    except IllegalValue as error:
        raise Malformed(f"not a wire form: {error}") from None
    return content


def _text(content: Any) -> str:
    if type(content) is not str or len(content) > LIMITS.max_text:
        raise Malformed("not a text")
    return content


def _flag(content: Any) -> bool:
    if type(content) is not bool:
        raise Malformed("not a bool")
    return content


def _score(content: Any) -> float:
    if type(content) is not float or not 0.0 <= content <= 1.0:
        raise Malformed("not a score in [0, 1]")
    return content


def _sampled(content: Any) -> dict[str, Any]:
    if type(content) is not dict or set(content) != {"input", "planted", "shown"}:
        raise Malformed("not a sample")
    _wire(content["input"])
    _wire(content["planted"])
    _text(content["shown"])
    return content


def _step(content: Any) -> list[Any]:
    """What a step of a search brought: nothing, an output, or an input and an output."""
    if type(content) is not list or len(content) > 2:
        raise Malformed("not a step")
    for value in content:
        _wire(value)
    return content


def _end(content: Any) -> None:
    if content is not None:
        raise Malformed("not the end of a search")


def _report(content: Any) -> dict[str, Any]:
    if type(content) is not dict or set(content) != {*_REPORT_TEXTS, "imports", "findings", "error"}:
        raise Malformed("not a report")
    texts = [content[key] for key in _REPORT_TEXTS]
    texts += _items(content["imports"])
    for finding in _items(content["findings"]):
        texts.append(_fields(finding, "line", "message")["message"])
        if type(finding["line"]) is not int:
            raise Malformed("not a finding")
    if content["error"] is not None:
        texts += _fields(content["error"], "gate", "reason").values()
    if any(type(text) is not str for text in texts):
        raise Malformed("a report holds what is no text")
    return content


def _items(content: Any) -> list[Any]:
    if type(content) is not list:
        raise Malformed("not a list")
    return content


def _fields(content: Any, *names: str) -> dict[str, Any]:
    if type(content) is not dict or set(content) != set(names):
        raise Malformed("not the expected fields")
    return content


# Built once: making them costs as much as a small reply.
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
# Whole ends of the replies that nearly all are; anything else is read in full.
_PLAIN: dict[str, dict[bytes, Result]] = {
    "verify": {b"0.0]": Value(0.0), b"1.0]": Value(1.0)},
    "accepts": {b"false]": Value(False), b"true]": Value(True)},
}
_VALIDATORS = {
    "sample": _sampled, "solve": _wire, "verify": _score, "accepts": _flag, "show": _text, "inspect": _report,
    "answer": _wire, "search": _end,
}  # fmt: skip

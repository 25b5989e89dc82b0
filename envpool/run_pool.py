"""Where the pool of a run lies, told from the run's folder alone. Nothing is opened here but its configuration."""

from pathlib import Path

import yaml

CONFIG_FILE = "config.yaml"


def pool_of(folder: Path) -> Path:
    """Where the pool of the run in this folder lies, as the configuration kept there says."""
    try:
        kept = yaml.safe_load((folder / CONFIG_FILE).read_text(encoding="utf-8")) or {}
    except FileNotFoundError:
        kept = {}
    place = (kept.get("pool") or {}).get("folder")
    return Path(place).expanduser() / folder.name if place else folder / "pool"

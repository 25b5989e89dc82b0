"""Where the pool of a run lies, told from the run's folder alone. Nothing is opened here but its configuration."""

from pathlib import Path

import yaml

from envpool.store.errors import StoreError

CONFIG_FILE = "config.yaml"


def pool_of(folder: Path) -> Path:
    """Where the pool of the run in this folder lies, as the configuration kept there says. Raises StoreError."""
    try:
        kept = yaml.safe_load((folder / CONFIG_FILE).read_text(encoding="utf-8")) or {}
        place = (kept.get("pool") or {}).get("folder")
        return Path(place).expanduser() / folder.name if place else folder / "pool"
    except FileNotFoundError:
        return folder / "pool"
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, TypeError) as error:
        why = " ".join(str(error).split())
        raise StoreError(f"{folder / CONFIG_FILE} is no configuration of a run: {why}") from error

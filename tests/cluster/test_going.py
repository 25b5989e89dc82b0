"""Whether anything of a run lives, told from its folder."""

import json
import socket
from pathlib import Path

from cluster.config import Config
from cluster.going import driven, lives
from cluster.run_folder import PLACE_FILE, held


def test_a_run_lives_while_its_driver_holds_its_folder(tmp_path: Path) -> None:
    config = Config.model_validate({"run": {"name": "x", "folder": str(tmp_path)}})
    assert not lives(tmp_path / "x")
    with held(config) as folder:
        assert driven(folder) and lives(folder)
        assert driven(folder), "looking takes nothing away"
    assert not driven(folder) and not lives(folder)


def test_a_run_without_a_driver_may_live_where_its_cluster_answers(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        (tmp_path / PLACE_FILE).write_text(json.dumps({"address": address}), encoding="utf-8")
        assert lives(tmp_path) and not driven(tmp_path)
    assert not lives(tmp_path)


def test_a_place_that_cannot_be_read_answers_not(tmp_path: Path) -> None:
    for text in ("", "{}", '{"address": "host:port"}', '{"address": "nowhere"}', "[]"):
        (tmp_path / PLACE_FILE).write_text(text, encoding="utf-8")
        assert not lives(tmp_path), text

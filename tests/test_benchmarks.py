"""The benchmark runner: it names the machine, refuses unknown names, and finds every benchmark. None is run here."""

import pytest

from tests.benchmarks import __main__ as benchmarks


def test_every_benchmark_can_be_run_as_a_module() -> None:
    for path in benchmarks.FOLDER.glob("bench_*.py"):
        text = path.read_text(encoding="utf-8")
        assert "def main() -> None:" in text, path.name
        assert 'if __name__ == "__main__":\n    main()' in text, path.name


def test_the_machine_is_named() -> None:
    assert "cores" in benchmarks.machine()
    assert "Python 3." in benchmarks.machine()


def test_an_unknown_benchmark_is_refused_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmarks.main(["stor"]) == 2
    assert "did you mean 'store'" in capsys.readouterr().err

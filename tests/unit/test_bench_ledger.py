"""The benchmark of ledgers: a miniature of it has every figure."""

import pytest

pytest.importorskip("psycopg", reason="psycopg is not installed; install expost[postgres].")

from benchmarks import ledger

FIGURES = ("floor_ratio", "charge_ms_p50", "charge_ms_p99", "floor_ms_p50", "floor_ms_p99", "growth_1e6")


@pytest.mark.usefixtures("postgres")
def test_a_miniature_has_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"CHARGES": 20, "PROCESSES": 2, "SECONDS": 0.2, "PAST": 200, "AT_ONCE": 100, "SHOWN": 2}.items():
        monkeypatch.setattr(ledger, name, value)

    figures = ledger.run(lambda text: None)

    for home in ("sqlite", "postgres"):
        assert {f"ledger.{each}.{home}" for each in FIGURES} <= figures.keys()
        assert {
            f"ledger.{kind}.{home}.p{count}" for kind in ("rate", "floor_rate") for count in (1, 2)
        } <= figures.keys()
    assert all(value > 0 for value in figures.values())
    assert figures["ledger.growth_1e6"] == max(figures[f"ledger.growth_1e6.{home}"] for home in ("sqlite", "postgres"))

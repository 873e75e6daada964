"""Alive and ready."""

from __future__ import annotations

import logging

import pytest
from tests.edge.talk import app_of, calling


def test_a_process_without_checks_is_alive_and_ready() -> None:
    with calling(app_of()) as client:
        assert client.get("/health").json() == {"status": "ok"}
        assert client.get("/ready").json() == {"status": "ready", "checks": {}}


def test_a_failed_check_is_named_and_its_reason_kept_out_of_the_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def store() -> None:
        raise OSError("password=hunter2")

    with calling(app_of(checks={"store": store, "mail": lambda: False, "clock": lambda: None})) as client:
        response, alive = client.get("/ready"), client.get("/health")
    assert response.status_code == 503
    assert response.json() == {
        "status": "not ready",
        "checks": {"store": "failed", "mail": "failed", "clock": "ok"},
    }
    assert alive.status_code == 200
    told = [line for line in caplog.records if line.levelno == logging.WARNING]
    assert [(line.getMessage(), vars(line)["check"]) for line in told] == [
        ("check failed", "store"),
        ("check failed", "mail"),
    ]
    assert vars(told[0])["mistake"] == "OSError"
    assert "hunter2" not in response.text + str([vars(line) for line in told])


def test_a_check_is_asked_each_time() -> None:
    up = [False]
    with calling(app_of(checks={"store": lambda: up[0]})) as client:
        before = client.get("/ready").status_code
        up[0] = True
        assert (before, client.get("/ready").status_code) == (503, 200)


def test_a_warning_is_shown_and_the_server_is_ready_all_the_same() -> None:
    with calling(app_of(checks={"integrity": lambda: "damage found", "store": lambda: True})) as client:
        response = client.get("/ready")
    assert response.status_code == 200
    assert response.json() == {"status": "ready", "checks": {"integrity": "damage found", "store": "ok"}}

"""A process that dies in the middle of turns leaves a count that equals the number of messages (ZC-S3)."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from tests import fork_server
from tests.crash import chat_child

from tablewright import Engine
from tablewright.client import embedded


@pytest.mark.parametrize("at_most", [2, 9, 31])
def test_zc_s3_after_a_kill_the_count_equals_the_number_of_message_items(
    tmp_path: Path, at_most: int
) -> None:
    command = [sys.executable, str(Path(chat_child.__file__)), str(tmp_path), str(at_most)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = fork_server.run(command, env=environment)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    with Engine.open(tmp_path / "chat.db") as engine:
        assert engine.verify() == []
        chat = chat_child.opened(tmp_path, embedded(engine))
        (header,) = chat.conversations.all_of("u_9")
        found = list(chat.messages.all(header))
        assert header.message_count == len(found) == header.last_sequence
        assert [message.sequence for message in found] == list(range(1, len(found) + 1))
        assert all(
            reply.text == f"re {asked.text}" for asked, reply in zip(found[::2], found[1::2], strict=True)
        )
        assert len(found) >= 2 * (at_most - 2)

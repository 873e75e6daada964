"""Zoo chat works where no agent library is installed: only the adapters import them."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
for name in ("langgraph", "langchain_core", "agents", "strands", "ormsgpack"):
    sys.modules[name] = None
import tablewright.systems.chat.service
import tablewright.systems.chat.jobs
from tablewright.systems.chat.adapters.agent_state import readable
assert readable(b"msgpack", b"\\x93\\x01\\x02\\xff") == "kwEC/w=="
"""


def test_nothing_but_the_adapters_imports_an_agent_library() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

"""AsyncDb and AsyncHttpCall are public names; without their extra the error says what to install."""

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["greenlet"] = None
import tablewright.client, tablewright.mapping
for module, name in ((tablewright.client, "AsyncHttpCall"), (tablewright.mapping, "AsyncDb")):
    try:
        getattr(module, name)
    except ImportError as error:
        print(error)
"""


def test_the_names_for_asyncio_are_imported_from_their_packages() -> None:
    from tablewright.client import AsyncHttpCall
    from tablewright.client.async_http import AsyncHttpCall as call
    from tablewright.mapping import AsyncDb
    from tablewright.mapping.async_db import AsyncDb as db

    assert (AsyncHttpCall, AsyncDb) == (call, db)


def test_without_the_extra_the_error_says_how_to_install_it() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    words = "needs greenlet, which is not installed; run: pip install 'tablewright[async]'"
    assert done.stdout.splitlines() == [f"AsyncHttpCall {words}", f"AsyncDb {words}"]


def test_the_packages_do_not_load_the_extra_themselves() -> None:
    text = "import sys, tablewright.client, tablewright.mapping; print('greenlet' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "False"

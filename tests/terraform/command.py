"""Terraform as tests run it: the real binary with the real AWS provider, in a directory of its own, offline.

It needs the terraform binary and the provider in a directory `tf-plugins` near the root of the file system; where one
of them is missing, a test that asks for it is skipped, with the reason.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

NO_CHANGES, CHANGES = 0, 2  # exit codes of `plan -detailed-exitcode`
NO_PROVIDER = "no directory tf-plugins with Terraform's AWS provider is on this machine"


def plugins() -> Path | None:
    """The directory with Terraform's providers, if this machine has one."""
    found = (
        there for depth in ("", "*/") for there in Path("/").glob(f"{depth}tf-plugins") if there.is_dir()
    )
    return next(found, None)


def surroundings(home: Path) -> dict[str, str]:
    """What the commands need of an environment."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TF_IN_AUTOMATION": "1",
        "CHECKPOINT_DISABLE": "1",
        # Collecting garbage is a third of what the provider does: only where memory would run out.
        "GOGC": "off",
        "GOMEMLIMIT": "2GiB",
    }


@dataclass(frozen=True)
class Terraform:
    """The command, in a directory of its own, offline."""

    binary: str
    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *words: str, codes: tuple[int, ...] = (0,)) -> tuple[int, str]:
        done = subprocess.run(
            [self.binary, *words],
            cwd=self.home,
            env=surroundings(self.home) | dict(self.environment),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode in codes, f"{done.stdout}\n{done.stderr}"
        return done.returncode, done.stdout


def binary() -> str:
    """The command, or the test is skipped."""
    found = shutil.which("terraform")
    if found is None:
        pytest.skip("there is no terraform on this machine")
    return found


@contextmanager
def provider(home: Path) -> Iterator[Mapping[str, str]]:
    """The provider as a process that stays, and the environment in which Terraform finds it; or the test is skipped.

    Terraform else begins one for each walk over a configuration, which is most of its time. It has one set of settings
    at a time: a configuration with several regions cannot share it.
    """
    program = next((plugins() or home).glob("*/hashicorp/aws/*/*/terraform-provider-aws_*"), None)
    if program is None:
        pytest.skip(NO_PROVIDER)
    process = subprocess.Popen(
        [program, "-debug"],
        env=surroundings(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        found = (re.search("TF_REATTACH_PROVIDERS='(.*)'", line) for line in process.stdout)
        yield {"TF_REATTACH_PROVIDERS": next(filter(None, found))[1]}
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@contextmanager
def moto() -> Iterator[str]:
    """The address of a server for everything of Amazon's that is not DynamoDB; or the test is skipped."""
    server_of = pytest.importorskip("moto.server", reason="moto stands in for what is around the tables")
    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    # Its servers of one process share what they hold: without this a test would find the tables of an earlier one.
    urlopen(Request(f"{url}/moto-api/reset", method="POST"), timeout=30).close()
    yield url
    server.stop()


def initialised(home: Path, environment: Mapping[str, str] | None = None) -> Terraform:
    """Terraform in a directory with a configuration, with the provider; or the test is skipped."""
    providers = plugins()
    found = Terraform(binary(), home, environment or {})
    if providers is None:
        pytest.skip(NO_PROVIDER)
    found("init", f"-plugin-dir={providers}", "-no-color", "-input=false")
    return found

"""Deployments of a Cisco FMC: to which devices, when one is needed, and waiting until it is done.

Must hold: a deployment that was given up on (it took too long) is asked after before another is made; while another
one runs, none is asked for; a device that has no changes any more has been deployed to. A deployment takes along
what others have pending on the device: the FMC knows no other.
Elsewhere: whether one of our rules needs it (cisco_fmc.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tablewright.systems.parental.firewall.driver import Conflict, Rejected, Unavailable
from tablewright.systems.parental.firewall.fmc_client import FmcClient, NotThere

_DONE = frozenset(("SUCCESS", "SUCCEEDED", "COMPLETED", "DEPLOYED"))
_FAILED = frozenset(("FAILED", "FAILURE", "ERROR", "CANCELLED"))
_DEPLOYABLE = frozenset(("Device", "DeviceHAPair", "DeviceCluster"))


@dataclass(frozen=True, slots=True)
class Waits:
    """In seconds. `listed`: an FMC takes a while until it lists a device as one with changes."""

    poll: float = 5.0
    deployment: float = 900.0
    listed: float = 60.0


class Deployments:
    """Deployments of one access policy; it remembers those that are under way."""

    def __init__(
        self,
        fmc: FmcClient,
        access_policy_id: str,
        waits: Waits,
        sleep: Callable[[float], None],
    ) -> None:
        self._fmc, self._policy_id = fmc, access_policy_id
        self._waits, self._sleep = waits, sleep
        self._tasks: list[str] = []

    def run(self) -> Sequence[str]:
        """Deploy to each of our devices that has changes, and wait. The tasks; none if another process was faster."""
        targets = self._targets()
        done = [*self._tasks]
        self._wait()
        for device in self._with_changes(targets):
            request = {
                "type": "DeploymentRequest",
                "version": device["version"],
                "forceDeploy": False,
                "ignoreWarning": True,
                "deviceList": [device["device"]["id"]],
            }
            asked = self._fmc.post("/deployment/deploymentrequests", request)
            self._tasks.append(str(asked["metadata"]["task"]["id"]))
        done += self._tasks
        self._wait()
        return done

    def _targets(self) -> frozenset[str]:
        """The devices that have our policy."""
        try:
            assigned = self._fmc.get(f"/assignment/policyassignments/{self._policy_id}")
        except NotThere:
            words = "the access policy is assigned to no device; assign it to one"
            raise Rejected(words) from None
        targets = assigned.get("targets", [])
        if groups := [one.get("name", one["id"]) for one in targets if one.get("type") not in _DEPLOYABLE]:
            raise Rejected(
                f"the access policy is assigned to groups ({', '.join(groups)}); assign it to devices"
            )
        return frozenset(one["id"] for one in targets)

    def _with_changes(self, targets: frozenset[str]) -> Sequence[dict[str, Any]]:
        """Devices to deploy to. One that is not listed yet may be in a moment."""
        waited = 0.0
        while True:
            listed = [
                one
                for one in self._fmc.pages("/deployment/deployabledevices", expanded="true")
                if one["device"]["id"] in targets
            ]
            if any(not one.get("canBeDeployed", True) for one in listed):
                raise Conflict("another deployment to the device is running; this one has to wait")
            if listed or waited >= self._waits.listed:
                return listed
            self._sleep(self._waits.poll)
            waited += self._waits.poll

    def _wait(self) -> None:
        waited = 0.0
        while self._tasks:
            for task in tuple(self._tasks):
                self._look_at(task)
            if self._tasks:
                if waited >= self._waits.deployment:
                    raise Unavailable(f"a deployment takes longer than {waited:g} s; it is checked again")
                self._sleep(self._waits.poll)
                waited += self._waits.poll

    def _look_at(self, task: str) -> None:
        told = self._fmc.get(f"/job/taskstatuses/{task}")
        status = str(told.get("status", "")).upper()
        if status in _DONE or status in _FAILED:
            self._tasks.remove(task)
        if status in _FAILED:
            raise Unavailable(f"deployment {task} failed: {str(told.get('message', ''))[:200]}")

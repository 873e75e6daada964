"""`tablewright chat quality`: look for what is wrong in Zoo chat's table of conversations."""

import argparse
from dataclasses import asdict

from tablewright.app.copies.backups import environment_of
from tablewright.cli.format import as_table
from tablewright.cli.output import UsageError, print_result
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.kit.keyring import keyring_of
from tablewright.kit.objects.memory import InMemory
from tablewright.kit.subject_keys import SubjectKeys
from tablewright.mapping import Db, MappingMistake
from tablewright.systems.chat.design import CHAT, conversation_table
from tablewright.systems.chat.quality import Quality, QualityReport
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods

EXAMPLES = """Finds messages without their conversation, wrong counts, students' conversations without a family, and
what expired more than 72 hours ago. Nothing is changed; the server's daily job mends what can be mended. The exit
code is 1 if something was found.

tablewright chat quality --data ./data
tablewright chat quality --endpoint http://127.0.0.1:8000 --json"""
ERRORS = (MappingMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_target_options(parser, json="print the findings as JSON")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    report = _quality(target).check()
    found = asdict(report) | {"checked_at": report.checked_at.isoformat()}
    print_result(given, found, _text(report))
    return 1 if report.findings else 0


def _quality(target: Target) -> Quality:
    db = Db(target.call, CHAT, environment=environment_of((CHAT,)))
    name = db.physical(conversation_table.table.name)
    if target.find_table(name) is None:  # not created: another target may have been meant
        raise UsageError(
            f"table {name} does not exist in {target.name}: Zoo chat has not been started there; "
            "`tablewright serve` creates it"
        )
    # No text is read, so no key is needed.
    keys = SubjectKeys(InMemory(), keyring_of("chat", b"", world=db.world), db.world)
    return Quality(Repository(db, db.world, b"", keys), RetentionPeriods())


def _text(report: QualityReport) -> str:
    if not report.findings:
        return f"nothing is wrong in {report.conversations} conversations"
    rows = [[one.title, one.severity, str(one.count), ", ".join(one.sample)] for one in report.findings]
    return as_table(["finding", "severity", "count", "examples"], rows)

"""A request to its response: its shape is checked and its verb runs; errors have the service's type and words.

Elsewhere: what a verb does (the modules beside this one), commits (group_commit.py), connections of reads (engine.py).
"""

import logging

import orjson

from tablewright.engine.api.arguments import current_text
from tablewright.engine.api.operation import Context, Operation, ReadOperation, WriteOperation
from tablewright.engine.api.shapes import Request, check
from tablewright.engine.errors import Reworded, ServiceError, internal_error, invalid, serialization
from tablewright.engine.group_commit import Work
from tablewright.engine.metrics.errors import refused_samples
from tablewright.engine.storage.rows import DamagedRow
from tablewright.engine.transaction import WriteTransaction
from tablewright.expressions import BadExpression
from tablewright.values import BadValue, WrongJson
from tablewright.values.codec import NOT_UTF8

log = logging.getLogger("tablewright.engine")


def work_of(verb: str, operation: ReadOperation | WriteOperation, request: Request) -> Work:
    """A request that writes, for the group commit."""
    assert isinstance(operation, WriteOperation), f"{verb} does not write"

    def work(txn: WriteTransaction) -> bytes:
        try:
            answer = respond(operation, txn, request)
        except ServiceError as mistake:
            txn.samples += refused_samples(verb, request.get("TableName"), mistake)
            txn.done.append(("", len(txn.samples)))
            raise
        except Exception:
            txn.failed = verb, request.get("TableName")
            raise
        if txn.samples:
            txn.done.append((verb, len(txn.samples)))
        return answer

    return work


def respond(operation: Operation[Context], context: Context, request: Request) -> bytes:
    """The response to a request, after checking its shape; refusals in the service's type and words."""
    try:
        if not operation.fits(request):
            request = check(operation.shape, request)
        answer = operation.run(context, request)
        return answer if type(answer) is bytes else orjson.dumps(answer)
    except (BadValue, BadExpression, Reworded) as mistake:
        if operation.shape.wording is not None:
            raise invalid(current_text(mistake)) from None
        if isinstance(mistake, Reworded):
            raise
        raise invalid(str(mistake)) from None
    except WrongJson as wrong:
        raise serialization(str(wrong)) from None
    except UnicodeEncodeError:
        raise serialization(NOT_UTF8) from None
    except DamagedRow as damage:
        names = [table.name for table in context.tables.values() if table.number == damage.table]
        log.error("damaged row not served", extra={"table": "".join(names) or "a table that was dropped"})
        raise internal_error() from None

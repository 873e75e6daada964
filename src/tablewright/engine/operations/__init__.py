"""The verbs: one file each, all of one shape: read the request, check, act, answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tablewright.engine.operations import (
    batch_execute_statement,
    batch_get_item,
    batch_write_item,
    create_backup,
    create_table,
    delete_backup,
    delete_item,
    delete_table,
    describe_backup,
    describe_continuous_backups,
    describe_endpoints,
    describe_export,
    describe_import,
    describe_limits,
    describe_stream,
    describe_table,
    describe_table_replica_auto_scaling,
    describe_time_to_live,
    execute_statement,
    execute_transaction,
    export_table_to_point_in_time,
    get_item,
    get_records,
    get_shard_iterator,
    import_table,
    list_backups,
    list_exports,
    list_imports,
    list_streams,
    list_tables,
    list_tags_of_resource,
    put_item,
    query,
    restore_table_from_backup,
    restore_table_to_point_in_time,
    scan,
    tag_resource,
    transact_get_items,
    transact_write_items,
    untag_resource,
    update_continuous_backups,
    update_item,
    update_table,
    update_table_replica_auto_scaling,
    update_time_to_live,
)
from tablewright.engine.shapes import Fits, Request, Struct, predicate
from tablewright.engine.writing import Reading, Writing


@dataclass(frozen=True, slots=True)
class Read:
    """A verb that changes nothing."""

    shape: Struct
    run: Callable[[Reading, Request], dict[str, Any]]
    fits: Fits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fits", predicate(self.shape))


@dataclass(frozen=True, slots=True)
class Write:
    """A verb that goes through the writer."""

    shape: Struct
    run: Callable[[Writing, Request], dict[str, Any]]
    fits: Fits = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fits", predicate(self.shape))


# The verbs of DynamoDB Streams, a service of its own to an SDK.
STREAM_VERBS = frozenset(("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"))
VERBS: Mapping[str, Read | Write] = {
    "BatchExecuteStatement": Write(
        batch_execute_statement.SHAPE, batch_execute_statement.batch_execute_statement
    ),
    "BatchGetItem": Read(batch_get_item.SHAPE, batch_get_item.batch_get_item),
    "BatchWriteItem": Write(batch_write_item.SHAPE, batch_write_item.batch_write_item),
    "CreateBackup": Write(create_backup.SHAPE, create_backup.create_backup),
    "CreateTable": Write(create_table.SHAPE, create_table.create_table),
    "DeleteBackup": Write(delete_backup.SHAPE, delete_backup.delete_backup),
    "DeleteItem": Write(delete_item.SHAPE, delete_item.delete_item),
    "DeleteTable": Write(delete_table.SHAPE, delete_table.delete_table),
    "DescribeBackup": Read(describe_backup.SHAPE, describe_backup.describe_backup),
    "DescribeContinuousBackups": Read(
        describe_continuous_backups.SHAPE, describe_continuous_backups.describe_continuous_backups
    ),
    "DescribeEndpoints": Read(describe_endpoints.SHAPE, describe_endpoints.describe_endpoints),
    "DescribeExport": Read(describe_export.SHAPE, describe_export.describe_export),
    "DescribeImport": Read(describe_import.SHAPE, describe_import.describe_import),
    "DescribeLimits": Read(describe_limits.SHAPE, describe_limits.describe_limits),
    "DescribeStream": Read(describe_stream.SHAPE, describe_stream.describe_stream),
    "DescribeTable": Read(describe_table.SHAPE, describe_table.describe_table),
    "DescribeTableReplicaAutoScaling": Read(
        describe_table_replica_auto_scaling.SHAPE,
        describe_table_replica_auto_scaling.describe_table_replica_auto_scaling,
    ),
    "DescribeTimeToLive": Read(describe_time_to_live.SHAPE, describe_time_to_live.describe_time_to_live),
    "ExecuteStatement": Write(execute_statement.SHAPE, execute_statement.execute_statement),
    "ExecuteTransaction": Write(execute_transaction.SHAPE, execute_transaction.execute_transaction),
    "ExportTableToPointInTime": Write(
        export_table_to_point_in_time.SHAPE, export_table_to_point_in_time.export_table_to_point_in_time
    ),
    "GetItem": Read(get_item.SHAPE, get_item.get_item),
    "GetRecords": Read(get_records.SHAPE, get_records.get_records),
    "GetShardIterator": Read(get_shard_iterator.SHAPE, get_shard_iterator.get_shard_iterator),
    "ImportTable": Write(import_table.SHAPE, import_table.import_table),
    "ListBackups": Read(list_backups.SHAPE, list_backups.list_backups),
    "ListExports": Read(list_exports.SHAPE, list_exports.list_exports),
    "ListImports": Read(list_imports.SHAPE, list_imports.list_imports),
    "ListStreams": Read(list_streams.SHAPE, list_streams.list_streams),
    "ListTables": Read(list_tables.SHAPE, list_tables.list_tables),
    "ListTagsOfResource": Read(list_tags_of_resource.SHAPE, list_tags_of_resource.list_tags_of_resource),
    "PutItem": Write(put_item.SHAPE, put_item.put_item),
    "Query": Read(query.SHAPE, query.query),
    "RestoreTableFromBackup": Write(
        restore_table_from_backup.SHAPE, restore_table_from_backup.restore_table_from_backup
    ),
    "RestoreTableToPointInTime": Write(
        restore_table_to_point_in_time.SHAPE, restore_table_to_point_in_time.restore_table_to_point_in_time
    ),
    "Scan": Read(scan.SHAPE, scan.scan),
    "TagResource": Write(tag_resource.SHAPE, tag_resource.tag_resource),
    "TransactGetItems": Read(transact_get_items.SHAPE, transact_get_items.transact_get_items),
    "TransactWriteItems": Write(transact_write_items.SHAPE, transact_write_items.transact_write_items),
    "UntagResource": Write(untag_resource.SHAPE, untag_resource.untag_resource),
    "UpdateContinuousBackups": Write(
        update_continuous_backups.SHAPE, update_continuous_backups.update_continuous_backups
    ),
    "UpdateItem": Write(update_item.SHAPE, update_item.update_item),
    "UpdateTable": Write(update_table.SHAPE, update_table.update_table),
    "UpdateTableReplicaAutoScaling": Write(
        update_table_replica_auto_scaling.SHAPE,
        update_table_replica_auto_scaling.update_table_replica_auto_scaling,
    ),
    "UpdateTimeToLive": Write(update_time_to_live.SHAPE, update_time_to_live.update_time_to_live),
}
# What a verb that may write does instead when its request only reads (statements.only_reads).
READING: Mapping[str, Read] = {
    "BatchExecuteStatement": Read(
        batch_execute_statement.SHAPE, batch_execute_statement.batch_execute_selects
    ),
    "ExecuteStatement": Read(execute_statement.SHAPE, execute_statement.execute_select),
    "ExecuteTransaction": Read(execute_transaction.SHAPE, execute_transaction.execute_read_transaction),
}

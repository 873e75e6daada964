"""A table, and for each verb sound requests that use as many of its arguments as go together."""

from typing import Any

from tablewright.engine.streams.iterators import Iterator
from tablewright.engine.transfer.export_format import export_id

Json = Any

PETS: Json = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
        {"AttributeName": "g", "AttributeType": "S"},
        {"AttributeName": "l", "AttributeType": "B"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "global",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["n"]},
        }
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": "local",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "l", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}  # fmt: skip
BESIDE: Json = {
    "TableName": "beside",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": PETS["AttributeDefinitions"][:1],
    "KeySchema": PETS["KeySchema"][:1],
    "VectorIndexes": [
        {
            "IndexName": "near",
            "VectorAttribute": {"AttributeName": "v"},
            "Dimensions": 2,
            "DistanceFunction": "COSINE",
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/pets"
BULK_LOAD = {
    "TableName": "pets",
    "InputS3Configuration": {"S3BucketOwner": "0" * 12, "S3Bucket": "vault", "S3KeyPrefix": "a",
                             "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "GZIP"},
    "OutputS3Configuration": {"S3BucketOwner": "0" * 12, "S3Bucket": "vault", "S3KeyPrefix": "b",
                              "S3SseAlgorithm": "AES256", "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]},
}  # fmt: skip
KINESIS = "arn:aws:kinesis:us-east-1:000000000000:stream/pets"
POLICY = (
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["dynamodb:GetItem"], '
    '"Principal": {"AWS": ["111122223333"]}, "Resource": "*"}]}'
)
# Of a clock that stands still.
STREAM = ARN + "/stream/2026-01-01T00:00:00.000"
SHARD = "shardId-00000001767225600000-00000001"
ITERATOR = Iterator(STREAM, 1, 2, 1_767_225_600_000_000).text()
# The table takes the first id, then its backup, its export, the table of its import, the import, and a bulk load.
BACKUP = ARN + "/backup/01767225600000-id 2"
EXPORT = ARN + "/export/" + export_id(1_767_225_600_000_000, "id 3")
IMPORT = ARN.replace("pets", "brought") + "/import/" + export_id(1_767_225_600_000_000, "id 5")
BULK = ARN + "/bulk-operation/" + export_id(1_767_225_600_000_000, "id 6")
KEY: Json = {"pk": {"S": "rex"}, "sk": {"N": "1"}}
ITEM: Json = {
    **KEY,
    "g": {"S": "x"},
    "l": {"B": "AA=="},
    "n": {"N": "5"},
    "m": {"M": {"a": {"L": [{"SS": ["a", "b"]}]}}},
}
COUNTED: Json = {"ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"}
CONDITION: Json = {
    "ConditionExpression": "attribute_exists(#n) AND n BETWEEN :a AND :b OR size(m.a[0]) > :a",
    "ExpressionAttributeNames": {"#n": "n"},
    "ExpressionAttributeValues": {":a": {"N": "1"}, ":b": {"N": "9"}},
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}
UPDATE: Json = CONDITION | {
    "UpdateExpression": "SET n = n + :a, x = if_not_exists(y, :b), m.a[1] = :a REMOVE q ADD z :b",
}
# The table is on demand: there is nothing to scale, which is as much as it can be told.
NOT_SCALED: Json = {
    "MinimumUnits": 1,
    "MaximumUnits": 10,
    "AutoScalingDisabled": True,
    "ScalingPolicyUpdate": {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70.5}},
}
SOUND: dict[str, list[Json]] = {
    "PutItem": [
        {"TableName": "pets", "Item": ITEM, "ReturnValues": "ALL_OLD", **CONDITION, **COUNTED},
        {"TableName": "pets", "Item": ITEM, "Expected": {"n": {"Value": {"N": "5"}, "ComparisonOperator": "EQ"}}},
        {"TableName": ARN, "Item": ITEM},
    ],
    "UpdateItem": [
        {"TableName": "pets", "Key": KEY, "ReturnValues": "UPDATED_NEW", **UPDATE, **COUNTED},
        {"TableName": "pets", "Key": KEY, "AttributeUpdates": {"n": {"Value": {"N": "1"}, "Action": "ADD"}},
         "Expected": {"q": {"Exists": False}, "n": {"AttributeValueList": [{"N": "5"}], "ComparisonOperator": "GE"}},
         "ConditionalOperator": "OR"},
    ],
    "DeleteItem": [{"TableName": "pets", "Key": KEY, "ReturnValues": "ALL_OLD", **CONDITION, **COUNTED}],
    "GetItem": [
        {"TableName": "pets", "Key": KEY, "ConsistentRead": True, "ProjectionExpression": "m.a[0], #n",
         "ExpressionAttributeNames": {"#n": "n"}, "ReturnConsumedCapacity": "TOTAL"},
        {"TableName": "pets", "Key": KEY, "AttributesToGet": ["n", "m"]},
    ],
    "Query": [
        {"TableName": "pets", "KeyConditionExpression": "pk = :p AND sk BETWEEN :a AND :b", "Limit": 3,
         "FilterExpression": "#n > :a", "ExpressionAttributeNames": {"#n": "n"}, "ScanIndexForward": False,
         "ExpressionAttributeValues": {":p": {"S": "rex"}, ":a": {"N": "0"}, ":b": {"N": "9"}},
         "ExclusiveStartKey": KEY, "Select": "ALL_ATTRIBUTES", "ReturnConsumedCapacity": "INDEXES"},
        {"TableName": "pets", "IndexName": "local", "AttributesToGet": ["n"],
         "KeyConditions": {"pk": {"AttributeValueList": [{"S": "rex"}], "ComparisonOperator": "EQ"}}},
        {"TableName": "pets", "IndexName": "global", "AttributesToGet": ["n"], "ConditionalOperator": "AND",
         "KeyConditions": {"g": {"AttributeValueList": [{"S": "x"}], "ComparisonOperator": "EQ"}},
         "QueryFilter": {"n": {"AttributeValueList": [{"N": "1"}, {"N": "9"}], "ComparisonOperator": "BETWEEN"},
                         "pk": {"ComparisonOperator": "NOT_NULL"}}},
    ],
    "Scan": [
        {"TableName": "pets", "Limit": 3, "Segment": 1, "TotalSegments": 3, "FilterExpression": "contains(g, :a)",
         "ExpressionAttributeValues": {":a": {"S": "x"}}, "Select": "COUNT"},
        {"TableName": "pets", "IndexName": "global", "ExclusiveStartKey": {**KEY, "g": {"S": "x"}},
         "ScanFilter": {"n": {"AttributeValueList": [{"N": "5"}], "ComparisonOperator": "IN"}}},
    ],
    "BatchGetItem": [{"RequestItems": {"pets": {"Keys": [KEY], "ProjectionExpression": "n", "ConsistentRead": True}},
                      "ReturnConsumedCapacity": "TOTAL"}],
    "BatchWriteItem": [{"RequestItems": {"pets": [{"PutRequest": {"Item": ITEM}},
                        {"DeleteRequest": {"Key": {**KEY, "sk": {"N": "2"}}}}]}, **COUNTED}],
    "TransactGetItems": [{"TransactItems": [{"Get": {"TableName": "pets", "Key": KEY, "ProjectionExpression": "n"}}],
                          "ReturnConsumedCapacity": "INDEXES"}],
    "TransactWriteItems": [{
        "TransactItems": [
            {"Put": {"TableName": "pets", "Item": ITEM, **CONDITION}},
            {"Update": {"TableName": "pets", "Key": {**KEY, "sk": {"N": "2"}}, **UPDATE}},
            {"Delete": {"TableName": "pets", "Key": {**KEY, "sk": {"N": "3"}}}},
            {"ConditionCheck": {"TableName": "pets", "Key": {**KEY, "sk": {"N": "4"}}, **CONDITION}},
        ],
        "ClientRequestToken": "token", **COUNTED}],
    "CreateTable": [
        PETS | {"TableName": "more", "Tags": [{"Key": "a", "Value": "b"}], "DeletionProtectionEnabled": False,
                "TableClass": "STANDARD", "OnDemandThroughput": {"MaxReadRequestUnits": 5},
                "WarmThroughput": {"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000},
                "SSESpecification": {"Enabled": True}, "StreamSpecification": {"StreamEnabled": False},
                "ResourcePolicy": POLICY},
        {"TableName": "more", "AttributeDefinitions": PETS["AttributeDefinitions"][:1], "BillingMode": "PROVISIONED",
         "KeySchema": PETS["KeySchema"][:1],
         "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}},
    ],
    "UpdateTable": [
        {"TableName": "pets", "OnDemandThroughput": {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": -1},
         "AttributeDefinitions": [{"AttributeName": "n", "AttributeType": "N"}],
         "GlobalSecondaryIndexUpdates": [{"Create": PETS["GlobalSecondaryIndexes"][0] | {"IndexName": "other",
          "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}]}}]},
        {"TableName": "pets", "GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "global",
         "OnDemandThroughput": {"MaxReadRequestUnits": 5}}}]},
        {"TableName": "pets", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "global"}}]},
        {"TableName": "pets", "DeletionProtectionEnabled": False},
        {"TableName": "pets", "StreamSpecification": {"StreamEnabled": False}},
        {"TableName": "pets", "TableClass": "STANDARD_INFREQUENT_ACCESS"},
        {"TableName": "pets", "SSESpecification": {"SSEType": "KMS", "KMSMasterKeyId": "alias/pets"}},
        {"TableName": "pets", "BillingMode": "PROVISIONED", "ProvisionedThroughput": {"ReadCapacityUnits": 1,
         "WriteCapacityUnits": 1}, "GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "global",
         "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}}]},
    ],
    "DeleteTable": [{"TableName": "pets"}],
    "DescribeTable": [{"TableName": "pets"}],
    "ListTables": [{"ExclusiveStartTableName": "aaa", "Limit": 5}],
    "DescribeTimeToLive": [{"TableName": "pets"}],
    "UpdateTimeToLive": [{"TableName": "pets", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}],
    "ListStreams": [{"TableName": "pets", "Limit": 5, "ExclusiveStartStreamArn": ARN + "/stream/2000"}],
    "DescribeStream": [{"StreamArn": STREAM, "Limit": 5, "ExclusiveStartShardId": SHARD,
                        "ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": SHARD}}],
    "GetShardIterator": [
        {"StreamArn": STREAM, "ShardId": SHARD, "ShardIteratorType": "TRIM_HORIZON"},
        {"StreamArn": STREAM, "ShardId": SHARD, "ShardIteratorType": "AT_SEQUENCE_NUMBER",
         "SequenceNumber": "100000000000000000001"},
        {"StreamArn": STREAM, "ShardId": SHARD, "ShardIteratorType": "AT_TIMESTAMP", "Timestamp": 1.5},
    ],
    "GetRecords": [{"ShardIterator": ITERATOR, "Limit": 2}],
    "TagResource": [{"ResourceArn": ARN, "Tags": [{"Key": "a", "Value": "b"}]}],
    "UntagResource": [{"ResourceArn": ARN, "TagKeys": ["a"]}],
    "ListTagsOfResource": [{"ResourceArn": ARN, "NextToken": None}],
    "PutResourcePolicy": [{"ResourceArn": ARN, "Policy": POLICY, "ExpectedRevisionId": "NO_POLICY",
                           "ConfirmRemoveSelfResourceAccess": True}],
    "GetResourcePolicy": [{"ResourceArn": STREAM}],
    "DeleteResourcePolicy": [{"ResourceArn": ARN}],
    "EnableKinesisStreamingDestination": [
        {"TableName": "beside", "StreamArn": KINESIS,
         "EnableKinesisStreamingConfiguration": {"ApproximateCreationDateTimePrecision": "MICROSECOND"}}],
    "DisableKinesisStreamingDestination": [{"TableName": "pets", "StreamArn": KINESIS}],
    "UpdateKinesisStreamingDestination": [
        {"TableName": "pets", "StreamArn": KINESIS,
         "UpdateKinesisStreamingConfiguration": {"ApproximateCreationDateTimePrecision": "MICROSECOND"}}],
    "DescribeKinesisStreamingDestination": [{"TableName": ARN}],
    "UpdateContributorInsights": [{"TableName": "pets", "IndexName": "global", "ContributorInsightsAction": "ENABLE",
                                   "ContributorInsightsMode": "THROTTLED_KEYS"}],
    "DescribeContributorInsights": [{"TableName": "pets", "IndexName": "global"}],
    "ListContributorInsights": [{"TableName": "pets", "MaxResults": 5, "NextToken": "cGV0cy8="}],
    "ExportTableToPointInTime": [
        {"TableArn": ARN, "S3Bucket": "vault", "S3BucketOwner": "000000000000", "S3Prefix": "a/b", "ClientToken": "x",
         "ExportTime": 1_767_225_600, "S3SseAlgorithm": "AES256", "ExportFormat": "DYNAMODB_JSON",
         "ExportType": "FULL_EXPORT",
         "FilterSpecification": {"KeyConditionExpression": "pk = :p", "FilterExpression": "#n > :a",
                                 "ProjectionExpression": "g, #n", "ExpressionAttributeNames": {"#n": "n"},
                                 "ExpressionAttributeValues": {":p": {"S": "rex"}, ":a": {"N": "0"}}}},
        {"TableArn": ARN, "S3Bucket": "vault"},
    ],
    "DescribeExport": [{"ExportArn": EXPORT}],
    "ListExports": [{"TableArn": ARN, "MaxResults": 5}],
    "ImportTable": [
        {"ClientToken": "y", "S3BucketSource": {"S3BucketOwner": "0" * 12, "S3Bucket": "vault", "S3KeyPrefix": "a"},
         "InputFormat": "CSV", "InputFormatOptions": {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "sk"]}},
         "InputCompressionType": "GZIP",
         "TableCreationParameters": {name: value for name, value in PETS.items() if name in (
             "BillingMode", "KeySchema", "GlobalSecondaryIndexes")} | {
             "TableName": "copies", "AttributeDefinitions": PETS["AttributeDefinitions"][:3]}},
    ],
    "DescribeImport": [{"ImportArn": IMPORT}],
    "StartBulkPutItems": [BULK_LOAD | {"ClientToken": "b", "MaxWriteRequestUnits": 2000,
                                       "PerformanceTier": "ACCELERATED"}],
    "DescribeBulkOperation": [{"BulkOperationArn": BULK}],
    "CancelBulkOperation": [{"BulkOperationArn": BULK}],
    "ListBulkOperations": [{"MaxResults": 5}],
    "ListImports": [{"TableArn": ARN, "PageSize": 5}],
    "CreateBackup": [{"TableName": ARN, "BackupName": "monday"}, {"TableName": "pets", "BackupName": "a.b-c_d"}],
    "DescribeBackup": [{"BackupArn": BACKUP}],
    "DeleteBackup": [{"BackupArn": BACKUP}],
    "ListBackups": [
        {"TableName": "pets", "Limit": 5, "TimeRangeLowerBound": 1_767_000_000, "TimeRangeUpperBound": 1_768_000_000.5,
         "ExclusiveStartBackupArn": BACKUP, "BackupType": "USER"},
        {},
    ],
    "UpdateContinuousBackups": [
        {"TableName": "pets", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True,
                                                                   "RecoveryPeriodInDays": 7}},
        {"TableName": ARN, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False}},
    ],
    "DescribeContinuousBackups": [{"TableName": "pets"}],
    "DescribeTableReplicaAutoScaling": [{"TableName": "pets"}],
    "UpdateTableReplicaAutoScaling": [
        {"TableName": "pets", "ProvisionedWriteCapacityAutoScalingUpdate": NOT_SCALED,
         "GlobalSecondaryIndexUpdates": [
             {"IndexName": "global", "ProvisionedWriteCapacityAutoScalingUpdate": NOT_SCALED}],
         "ReplicaUpdates": [
             {"RegionName": "us-east-1", "ReplicaProvisionedReadCapacityAutoScalingUpdate": NOT_SCALED,
              "ReplicaGlobalSecondaryIndexUpdates": [
                  {"IndexName": "global", "ProvisionedReadCapacityAutoScalingUpdate": NOT_SCALED}]}]},
    ],
    "RestoreTableFromBackup": [
        {"TargetTableName": "again", "BackupArn": BACKUP, "BillingModeOverride": "PROVISIONED",
         "ProvisionedThroughputOverride": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
         "GlobalSecondaryIndexOverride": [], "LocalSecondaryIndexOverride": []},
        {"TargetTableName": "again", "BackupArn": BACKUP},
    ],
    "RestoreTableToPointInTime": [
        {"SourceTableName": "pets", "TargetTableName": "again", "UseLatestRestorableTime": True,
         "GlobalSecondaryIndexOverride": [], "LocalSecondaryIndexOverride": []},
        {"SourceTableArn": ARN, "TargetTableName": "again", "RestoreDateTime": 1_767_225_600},
    ],
    "ExecuteStatement": [
        {"Statement": 'SELECT pk, n FROM "pets"."global" WHERE g = ? AND sk > 0 ORDER BY sk DESC',
         "Parameters": [{"S": "x"}], "Limit": 5, "ReturnConsumedCapacity": "INDEXES"},
        {"Statement": "UPDATE pets SET n = n + 1 REMOVE q WHERE pk = 'rex' AND sk = 1 AND n > ? RETURNING ALL OLD *",
         "Parameters": [{"N": "1"}], "ReturnValuesOnConditionCheckFailure": "ALL_OLD"},
        {"Statement": "INSERT INTO pets VALUE {'pk': 'new', 'sk': 1, 's': <<'a', 'b'>>, 'l2': [1, {'x': NULL}]}"},
        {"Statement": "DELETE FROM pets WHERE pk = 'rex' AND sk = 1", "ConsistentRead": False},
    ],
    "BatchExecuteStatement": [
        {"Statements": [{"Statement": "SELECT * FROM pets WHERE pk = 'rex' AND sk = ?", "Parameters": [{"N": "1"}],
                         "ConsistentRead": True}], "ReturnConsumedCapacity": "TOTAL"},
        {"Statements": [{"Statement": "DELETE FROM pets WHERE pk = 'rex' AND sk = 2"},
                        {"Statement": "INSERT INTO pets VALUE {'pk': 'b', 'sk': 1}"}]},
    ],
    "ExecuteTransaction": [
        {"TransactStatements": [
            {"Statement": "UPDATE pets SET n = 1 WHERE pk = ? AND sk = 1", "Parameters": [{"S": "rex"}],
             "ReturnValuesOnConditionCheckFailure": "ALL_OLD"},
            {"Statement": "EXISTS(SELECT * FROM pets WHERE pk = 'rex' AND sk = 2 AND n = 5)"}],
         "ClientRequestToken": "t", "ReturnConsumedCapacity": "TOTAL"},
    ],
    "SearchVectors": [
        {"TableName": "beside", "IndexName": "near", "SearchVector": [{"N": "1"}, {"N": "0.5"}], "TopK": 3,
         "ReturnConsumedCapacity": "INDEXES"},
    ],
    "DescribeLimits": [{}],
    "DescribeEndpoints": [{}],
}  # fmt: skip

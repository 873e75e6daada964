"""The store's own SQL tables, by the format that introduced them.

Must hold: the text of a released format does not change; what a later format adds is a separate text, which sqlite.py
executes for a new store and for an old one when it is opened.
Elsewhere: the statements on these tables (rows.py, row_writer.py, and the store.py of each folder).
"""

import re

FORMAT = 5
# "TbWr": identifies the file as a store of this program.
APPLICATION = 0x54625772

# Format 3. Tables, their items and the journal.
ITEMS = """
CREATE TABLE tables(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE counts(owner TEXT PRIMARY KEY, items INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tokens(token TEXT PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL, answer BLOB NOT NULL)
    WITHOUT ROWID;
CREATE INDEX tokens_by_time ON tokens(at);
CREATE TABLE doomed(name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE journal(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, source INTEGER NOT NULL, owner INTEGER NOT NULL,
    key BLOB NOT NULL, old BLOB, new BLOB);
"""
# Numbers of streams and shards are never reused: a shard's name contains its number.
STREAMS = """
CREATE TABLE streams(id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL, arn TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL, label TEXT NOT NULL, view TEXT NOT NULL, keys BLOB NOT NULL, at INTEGER NOT NULL,
    closed INTEGER);
CREATE TABLE shards(id INTEGER PRIMARY KEY AUTOINCREMENT, stream INTEGER NOT NULL, parent TEXT, first INTEGER NOT NULL,
    last INTEGER, low INTEGER NOT NULL, high INTEGER NOT NULL, at INTEGER NOT NULL, closed INTEGER,
    records INTEGER NOT NULL, counted INTEGER NOT NULL);
CREATE INDEX shards_by_stream ON shards(stream);
"""
# Snapshots of tables: checkpoints and backups (history/store.py).
HISTORY = """
CREATE TABLE chunks(hash BLOB PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE snapshots(id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL, seq INTEGER NOT NULL,
    at INTEGER NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, done BLOB NOT NULL, items INTEGER NOT NULL,
    bytes INTEGER NOT NULL, counted INTEGER NOT NULL, changes INTEGER NOT NULL);
CREATE INDEX snapshots_by_owner ON snapshots(owner);
CREATE TABLE snapshot_chunks(snapshot INTEGER NOT NULL, low BLOB NOT NULL, hash BLOB NOT NULL, items INTEGER NOT NULL,
    bytes INTEGER NOT NULL, PRIMARY KEY(snapshot, low)) WITHOUT ROWID;
CREATE INDEX snapshots_by_chunk ON snapshot_chunks(hash);
CREATE TABLE holds(name TEXT PRIMARY KEY, owner INTEGER NOT NULL, seq INTEGER NOT NULL, base INTEGER,
    origin INTEGER) WITHOUT ROWID;
CREATE TABLE backups(arn TEXT PRIMARY KEY, snapshot INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
    at INTEGER NOT NULL, expires INTEGER, bytes INTEGER NOT NULL, items INTEGER NOT NULL, source BLOB NOT NULL)
    WITHOUT ROWID;
CREATE TABLE restores(owner INTEGER PRIMARY KEY, done BLOB NOT NULL);
"""
# Exports and imports (transfer/store.py).
TRANSFERS = """
CREATE TABLE exports(id INTEGER PRIMARY KEY AUTOINCREMENT, arn TEXT NOT NULL UNIQUE, owner INTEGER NOT NULL,
    status TEXT NOT NULL, token TEXT, at INTEGER NOT NULL, closed INTEGER, first INTEGER NOT NULL,
    last INTEGER NOT NULL, done BLOB NOT NULL, items INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE export_files(export INTEGER NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL, items INTEGER NOT NULL,
    md5 TEXT NOT NULL, etag TEXT NOT NULL, PRIMARY KEY(export, number)) WITHOUT ROWID;
CREATE TABLE imports(id INTEGER PRIMARY KEY AUTOINCREMENT, arn TEXT NOT NULL UNIQUE, owner INTEGER NOT NULL,
    status TEXT NOT NULL, token TEXT, at INTEGER NOT NULL, closed INTEGER, object TEXT NOT NULL,
    records INTEGER NOT NULL, size INTEGER NOT NULL, processed INTEGER NOT NULL, imported INTEGER NOT NULL,
    errors INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE import_errors(import INTEGER NOT NULL, number INTEGER NOT NULL, object TEXT NOT NULL,
    item INTEGER NOT NULL, message TEXT NOT NULL, PRIMARY KEY(import, number)) WITHOUT ROWID;
"""
# Metrics by minute (metrics/store.py).
METRICS = """
CREATE TABLE metric_series(id INTEGER PRIMARY KEY, metric TEXT NOT NULL, owner TEXT NOT NULL, part TEXT NOT NULL,
    detail TEXT NOT NULL, UNIQUE(owner, metric, part, detail));
CREATE TABLE metric_points(series INTEGER NOT NULL, minute INTEGER NOT NULL, samples REAL NOT NULL, sum REAL NOT NULL,
    least REAL NOT NULL, most REAL NOT NULL, spread BLOB, PRIMARY KEY(series, minute)) WITHOUT ROWID;
CREATE TABLE scaling(owner TEXT NOT NULL, part TEXT NOT NULL, kind TEXT NOT NULL, target REAL NOT NULL,
    least INTEGER NOT NULL, most INTEGER NOT NULL, PRIMARY KEY(owner, part, kind)) WITHOUT ROWID;
"""
# Replicas (replication/store.py).
REPLICAS = """
CREATE TABLE replica_marks(owner INTEGER NOT NULL, region TEXT NOT NULL, number INTEGER NOT NULL, heard BLOB,
    pruned INTEGER NOT NULL, PRIMARY KEY(owner, region)) WITHOUT ROWID;
"""
THIRD = ITEMS + STREAMS + HISTORY + TRANSFERS + METRICS + REPLICAS
# Format 4: checksums of items (a column of their tables, row_writer.py) and of journal rows; NULL in rows that an
# earlier version wrote. And the passes of the scrub (verify/scrub.py).
CHECKSUMS = """
ALTER TABLE journal ADD COLUMN sum INTEGER;
"""
SCRUBS = """
CREATE TABLE scrubs(id INTEGER PRIMARY KEY AUTOINCREMENT, begun INTEGER NOT NULL, ended INTEGER, items INTEGER NOT NULL,
    found BLOB NOT NULL);
"""
FOURTH = CHECKSUMS + SCRUBS
# Format 5: bulk loads (transfer/store.py). Tables may have settings that earlier versions do not know (catalog.py).
BULK_OPERATIONS = """
CREATE TABLE bulk_operations(id INTEGER PRIMARY KEY AUTOINCREMENT, arn TEXT NOT NULL UNIQUE, owner INTEGER NOT NULL,
    status TEXT NOT NULL, token TEXT, at INTEGER NOT NULL, closed INTEGER, object TEXT NOT NULL,
    records INTEGER NOT NULL, size INTEGER NOT NULL, processed INTEGER NOT NULL, errors INTEGER NOT NULL,
    usage BLOB NOT NULL, body BLOB NOT NULL);
CREATE TABLE bulk_errors(operation INTEGER NOT NULL, number INTEGER NOT NULL, object TEXT NOT NULL,
    item INTEGER NOT NULL, message TEXT NOT NULL, PRIMARY KEY(operation, number)) WITHOUT ROWID;
"""
FIFTH = BULK_OPERATIONS
# The names of these tables; all others belong to tables of users.
TABLES = frozenset(re.findall(r"CREATE TABLE (\w+)", THIRD + FOURTH + FIFTH))

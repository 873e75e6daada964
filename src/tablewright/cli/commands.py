"""The table of commands: enough to print help and to find the one module that is imported.

A new command is an entry here and a file; `db backup create` is in db/backup_create.py.
Elsewhere: what a command's file has, and how arguments are parsed (parser.py).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """The words of a command or a group, and what it does."""

    words: str
    summary: str

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.words.split())


@dataclass(frozen=True, slots=True)
class Command(Entry):
    """Something that can be run. `file`: its module below tablewright.cli, if the words do not give it.

    `is_configurable`: its options can also be set in the environment and in a file (settings.py).
    """

    file: str = ""
    is_configurable: bool = False

    @property
    def module(self) -> str:
        first, *rest = self.path
        return self.file or ".".join([first, "_".join(rest)] if rest else [first])


@dataclass(frozen=True, slots=True)
class Group(Entry):
    """The first words that several commands share; its help lists them."""


# In the order in which help lists them.
COMMANDS: tuple[Command | Group, ...] = (
    Command(
        "serve",
        "Run everything in one process, or one system: pages, APIs, the workbench, DynamoDB.",
        is_configurable=True,
    ),
    Command("config", "Show the options of `serve` that are in force, and where each is set."),
    Command("secrets", "Create the secrets that all processes of `serve --endpoint` share."),
    Command("cost", "The same as `design cost`.", "design.cost"),
    Command(
        "scale", "Show a design at many times its load: units, partitions, cost, the keys that become hot."
    ),
    Command(
        "load", "Run the load that a design states against tables of its own, and report times and units."
    ),
    Command("mcp", "Serve designs and their access patterns as tools for models (MCP).", "mcp.serve"),
    Group("engine", "Serve the DynamoDB API, in one region or several."),
    Command(
        "engine serve",
        "Serve the DynamoDB HTTP API from a store on disk or from memory.",
        "engine_serve",
        is_configurable=True,
    ),
    Group("dr", "Rehearse disaster recovery with the regions of a store."),
    Command("dr status", "Show each table's replicas: writer, epoch, unreplicated writes."),
    Command("dr failover", "Make a region the writer of its tables and fence the previous writer."),
    Command("dr rejoin", "Copy the writer's items to a fenced region and list its unreplicated writes."),
    Command("dr drill", "Rehearse the loss of a region under load and report measured RTO and RPO."),
    Group("db", "Work with tables in a local store, on an endpoint or on AWS."),
    Command("db tables", "List the tables with item counts, sizes and settings."),
    Command("db describe", "Describe a table: keys, indexes, sizes, stream, time to live, recovery, tags."),
    Group("db backup", "Create, list and delete backups of tables."),
    Command("db backup create", "Back up a table as it is now; the backup outlives the table."),
    Command("db backup list", "List the backups of one table or of all, including deleted tables."),
    Command("db backup delete", "Delete a backup permanently, by its name or ARN."),
    Command("db recovery", "Show, switch on or switch off point-in-time recovery of a table."),
    Command("db restore", "Create a table from a backup, or from a table's contents at a point in time."),
    Command("db compare", "List the items that differ between two tables, with their attributes."),
    Command("db export", "Export a table at a point in time, or its changes, as compressed JSON files."),
    Command(
        "db import", "Create a table from an export, from DynamoDB JSON lines or from CSV.", "db.import_"
    ),
    Group("db copies", "List and restore the daily copies that a server makes elsewhere."),
    Command("db copies list", "List the daily copies at a location (`serve --copies LOCATION`)."),
    Command(
        "db copies restore", "Restore all tables of a daily copy into a new data directory or to an endpoint."
    ),
    Group("db parked", "List, replay and discard changes that a consumer failed to process."),
    Command("db parked list", "List the changes that consumers have parked; keys only on request."),
    Command("db parked replay", "Make a consumer process parked changes again, in order per key."),
    Command("db parked discard", "Discard parked changes permanently, without processing them."),
    Command("db compact", "Rewrite a store without free pages, so that its file shrinks."),
    Command("db verify", "Check every invariant of a store; print OK or each violation."),
    Group(
        "design",
        "Start, check, price, draw, import and export designs, simulate their load, write a repository.",
    ),
    Command("design new", "Write a small design file, JSON or YAML, to start from."),
    Command("design check", "Check a design against its rules, and against what a target can do."),
    Command(
        "design cost", "Show what a design costs per month, in both capacity modes, next to what was stated."
    ),
    Command("design heat", "Simulate the load of a design on partitions: what is throttled, what cures it."),
    Command(
        "design picture", "Draw a design: collections, indexes, patterns, state machines, keys, as SVG files."
    ),
    Command(
        "design diff",
        "Compare two versions of a design, or a design and live tables: what each change needs.",
    ),
    Command(
        "design docs",
        "Write a design as a Markdown page: tables, entities, patterns with costs, states, alarms.",
    ),
    Command("design export", "Print a design as JSON or YAML, or as other tools read it."),
    Command("design import", "Print a design of tables that are described elsewhere.", "design.import_"),
    Command("design schema", "Print the JSON Schema of design files."),
    Command(
        "design policy",
        "Print the IAM policies of a design, one per role, with least privilege; or what they decide.",
    ),
    Command("design repository", "Write a design as a repository: schemas, Terraform, workflows, tests."),
    Group("deploy", "Make the tables of an environment what the design says, without Terraform."),
    Command("deploy plan", "Show what is to be done to the tables, what it costs and what it loses."),
    Command("deploy apply", "Carry out the plan, step by step; resumable."),
    Command("deploy drift", "List the differences between the design and the tables, both ways."),
    Group("migrate", "Move a table to a new design, with a way back; fill new attributes in place."),
    Command("migrate plan", "Plan a migration and show what it will do. Nothing is copied yet."),
    Command("migrate run", "Copy a table to its new design and apply its changes; resumable."),
    Command("migrate status", "Show each migration: phase, active table, until when it can be rolled back."),
    Command("migrate verify", "Compare both tables item by item: missing, different and extra items."),
    Command("migrate switch", "Switch to the new table; writes pause for a few seconds."),
    Command("migrate rollback", "Switch back to the old table, with all writes made since the switch."),
    Command("migrate finish", "Finish a migration after its rollback period: delete the old table."),
    Command("migrate abandon", "Abandon a migration before the switch or after a rollback: delete the copy."),
    Command("migrate backfill", "Fill keys of new indexes and other derived attributes in place; resumable."),
    Group("copy", "Copy tables to another store or endpoint while they are written to, and switch."),
    Command("copy run", "Copy tables and apply their changes until the copy is up to date; resumable."),
    Command("copy status", "Show each copied table: phase, items, which process works on it."),
    Command("copy verify", "Compare counts and digests of tables and their copies."),
    Command("copy finish", "Apply the last changes, verify, and finish; the writers are stopped."),
    Group("chat", "Check Zoo chat."),
    Command("chat quality", "Find orphans, wrong counts and overdue data among conversations."),
    Group("parental", "Manage the parental controls system."),
    Group("parental registry", "Load the apps that parents can block."),
    Command("parental registry load", "Load the shipped list of apps, or your own; edited apps are kept."),
    Group("people", "Manage the accounts of a server without demo sign-in."),
    Command("people add", "Add an account; its owner signs in with a code sent by e-mail."),
    Command("people list", "List the accounts: addresses, names, roles, sign-in methods.", "people.list_"),
    Command("people change", "Change an account's name or roles, close or reopen it, or end its sessions."),
    Command("people password", "Set or remove an account's password; its sessions end."),
    Command("people erase", "Erase an account permanently: address, name, roles and password."),
)

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
    """Something that can be run. `file`: its module below tablewright.cli, if the words do not give it."""

    file: str = ""

    @property
    def module(self) -> str:
        first, *rest = self.path
        return self.file or ".".join([first, "_".join(rest)] if rest else [first])


@dataclass(frozen=True, slots=True)
class Group(Entry):
    """The first words that several commands share; its help lists them."""


# In the order in which help lists them.
COMMANDS: tuple[Command | Group, ...] = (
    Command("serve", "Run everything in one process, or one system: pages, APIs, the workbench, DynamoDB."),
    Command("cost", "Show what a design costs per month on DynamoDB, next to what its author stated."),
    Group("engine", "Serve the DynamoDB API, in one region or several."),
    Command(
        "engine serve", "Serve the DynamoDB HTTP API from a store on disk or from memory.", "engine_serve"
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
    Command("terraform", "Write a design as Terraform: tables, backups, roles, alarms, budget."),
    Command("policies", "Print the IAM policies of a design, one per role, with least privilege."),
    Group("migrate", "Move a table to a new design: copy, follow changes, verify, switch, roll back."),
    Command("migrate plan", "Plan a migration and show what it will do. Nothing is copied yet."),
    Command("migrate run", "Copy a table to its new design and apply its changes; resumable."),
    Command("migrate status", "Show each migration: phase, active table, until when it can be rolled back."),
    Command("migrate verify", "Compare both tables item by item: missing, different and extra items."),
    Command("migrate switch", "Switch to the new table; writes pause for a few seconds."),
    Command("migrate rollback", "Switch back to the old table, with all writes made since the switch."),
    Command("migrate finish", "Finish a migration after its rollback period: delete the old table."),
    Command("migrate abandon", "Abandon a migration before the switch or after a rollback: delete the copy."),
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

"""The table of commands: enough to print help and to find the one module that is imported.

A new command is an entry here and a file; `db backup create` is in db/backup_create.py.
Elsewhere: what a command's file has, and how arguments are parsed (parser.py).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """Something that can be run: its words, what it does, and its module below tablewright.cli."""

    words: str
    summary: str
    module: str

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.words.split())


@dataclass(frozen=True, slots=True)
class Group:
    """The first words that several commands share; its help ends with two examples of them."""

    words: str
    summary: str
    examples: tuple[str, str]

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.words.split())


# In the order in which help lists them.
COMMANDS: tuple[Command | Group, ...] = (
    Command(
        "serve", "Run everything in one process: the systems and their APIs, the console, DynamoDB.", "serve"
    ),
    Command(
        "cost", "Show what a design costs per month on DynamoDB, next to what its author stated.", "cost"
    ),
    Group(
        "engine",
        "Serve the DynamoDB API, in one region or several.",
        (
            "tablewright engine serve",
            "tablewright engine serve --host 0.0.0.0 --data /var/lib/tablewright --credentials keys.ini",
        ),
    ),
    Command(
        "engine serve", "Serve the DynamoDB HTTP API from a store on disk or from memory.", "engine_serve"
    ),
    Group(
        "dr",
        "Rehearse disaster recovery with the regions of a store.",
        ("tablewright dr status", "tablewright dr drill --orders 500 --workers 8 --json"),
    ),
    Command("dr status", "Show each table's replicas: writer, epoch, unreplicated writes.", "dr.status"),
    Command(
        "dr failover", "Make a region the writer of its tables and fence the previous writer.", "dr.failover"
    ),
    Command(
        "dr rejoin",
        "Copy the writer's items to a fenced region and list its unreplicated writes.",
        "dr.rejoin",
    ),
    Command(
        "dr drill", "Rehearse the loss of a region under load and report measured RTO and RPO.", "dr.drill"
    ),
    Group(
        "db",
        "Work with tables in a local store, on an endpoint or on AWS.",
        (
            "tablewright db tables --data ./data",
            "tablewright db describe pets --endpoint http://127.0.0.1:8000",
        ),
    ),
    Command("db tables", "List the tables with item counts, sizes and settings.", "db.tables"),
    Command(
        "db describe",
        "Describe a table: keys, indexes, sizes, stream, time to live, recovery, tags.",
        "db.describe",
    ),
    Group(
        "db backup",
        "Create, list and delete backups of tables.",
        (
            "tablewright db backup create pets --data ./data",
            "tablewright db backup list --data ./data",
        ),
    ),
    Command(
        "db backup create", "Back up a table as it is now; the backup outlives the table.", "db.backup_create"
    ),
    Command(
        "db backup list",
        "List the backups of one table or of all, including deleted tables.",
        "db.backup_list",
    ),
    Command("db backup delete", "Delete a backup permanently, by its name or ARN.", "db.backup_delete"),
    Command("db recovery", "Show, switch on or switch off point-in-time recovery of a table.", "db.recovery"),
    Command(
        "db restore",
        "Create a table from a backup, or from a table's contents at a point in time.",
        "db.restore",
    ),
    Command(
        "db compare", "List the items that differ between two tables, with their attributes.", "db.compare"
    ),
    Command(
        "db export",
        "Export a table at a point in time, or its changes, as compressed JSON files.",
        "db.export",
    ),
    Command(
        "db import", "Create a table from an export, from DynamoDB JSON lines or from CSV.", "db.import_"
    ),
    Group(
        "db copies",
        "List and restore the daily copies that a server makes elsewhere.",
        (
            "tablewright db copies list /mnt/other-disk",
            "tablewright db copies restore /mnt/other-disk --data ./data-again --yes",
        ),
    ),
    Command(
        "db copies list", "List the daily copies at a location (`serve --copies LOCATION`).", "db.copies_list"
    ),
    Command(
        "db copies restore",
        "Restore all tables of a daily copy into a new data directory or to an endpoint.",
        "db.copies_restore",
    ),
    Command(
        "db metrics",
        "Show the metrics of a table: capacity units, throttling, errors, latency, items.",
        "db.metrics",
    ),
    Command(
        "db autoscaling",
        "Show or change the auto scaling of a table's provisioned capacity.",
        "db.autoscaling",
    ),
    Group(
        "db stream",
        "Switch the stream of a table on or off, and follow its changes.",
        (
            "tablewright db stream tail pets --endpoint http://127.0.0.1:8000 --keys",
            "tablewright db stream on pets --data ./data",
        ),
    ),
    Command(
        "db stream tail",
        "Follow the changes of a table; keys and contents only on request.",
        "db.stream_tail",
    ),
    Command(
        "db stream on", "Enable the stream of a table: its changes can be read for 24 hours.", "db.stream_on"
    ),
    Command(
        "db stream off",
        "Disable the stream of a table: later changes are not recorded in it.",
        "db.stream_off",
    ),
    Group(
        "db parked",
        "List, replay and discard changes that a consumer failed to process.",
        (
            "tablewright db parked list --endpoint http://127.0.0.1:8000",
            "tablewright db parked replay tenants mailer --endpoint http://127.0.0.1:8000",
        ),
    ),
    Command(
        "db parked list",
        "List the changes that consumers have parked; keys only on request.",
        "db.parked_list",
    ),
    Command(
        "db parked replay",
        "Make a consumer process parked changes again, in order per key.",
        "db.parked_replay",
    ),
    Command(
        "db parked discard",
        "Discard parked changes permanently, without processing them.",
        "db.parked_discard",
    ),
    Command("db compact", "Rewrite a store without free pages, so that its file shrinks.", "db.compact"),
    Command("db verify", "Check every invariant of a store; print OK or each violation.", "db.verify"),
    Command("terraform", "Write a design as Terraform: tables, backups, roles, alarms, budget.", "terraform"),
    Command(
        "policies", "Print the IAM policies of a design, one per role, with least privilege.", "policies"
    ),
    Group(
        "migrate",
        "Move a table to a new design: copy, follow changes, verify, switch, roll back.",
        (
            "tablewright migrate plan skratch-visits-2 --data ./data",
            "tablewright migrate run skratch-visits-2 --data ./data",
        ),
    ),
    Command(
        "migrate plan", "Plan a migration and show what it will do. Nothing is copied yet.", "migrate.plan"
    ),
    Command("migrate run", "Copy a table to its new design and apply its changes; resumable.", "migrate.run"),
    Command(
        "migrate status",
        "Show each migration: phase, active table, until when it can be rolled back.",
        "migrate.status",
    ),
    Command(
        "migrate verify",
        "Compare both tables item by item: missing, different and extra items.",
        "migrate.verify",
    ),
    Command("migrate switch", "Switch to the new table; writes pause for a few seconds.", "migrate.switch"),
    Command(
        "migrate rollback",
        "Switch back to the old table, with all writes made since the switch.",
        "migrate.rollback",
    ),
    Command(
        "migrate finish",
        "Finish a migration after its rollback period: delete the old table.",
        "migrate.finish",
    ),
    Command(
        "migrate abandon",
        "Abandon a migration before the switch or after a rollback: delete the copy.",
        "migrate.abandon",
    ),
    Group(
        "parental",
        "Manage the parental controls system.",
        (
            "tablewright parental registry load --endpoint http://127.0.0.1:8000",
            "tablewright parental registry list --data ./data",
        ),
    ),
    Group(
        "parental registry",
        "Load and list the apps that parents can block.",
        (
            "tablewright parental registry load --endpoint http://127.0.0.1:8000",
            "tablewright parental registry list --data ./data",
        ),
    ),
    Command(
        "parental registry load",
        "Load the shipped list of apps, or your own; edited apps are kept.",
        "parental.registry_load",
    ),
    Command(
        "parental registry list",
        "List the apps that parents can block: category, domains, ports, origin.",
        "parental.registry_list",
    ),
    Group(
        "people",
        "Manage the accounts of a server without demo sign-in.",
        (
            'tablewright people add ada@example.com --name "Ada" --data ./data',
            "tablewright people list --data ./data",
        ),
    ),
    Command("people add", "Add an account; its owner signs in with a code sent by e-mail.", "people.add"),
    Command("people list", "List the accounts: addresses, names, roles, sign-in methods.", "people.list_"),
    Command(
        "people change", "Change an account's name or roles, reopen it, or end its sessions.", "people.change"
    ),
    Command("people password", "Set or remove an account's password; its sessions end.", "people.password"),
    Command(
        "people close", "Close an account: its sessions end and it cannot be used to sign in.", "people.close"
    ),
    Command(
        "people erase", "Erase an account permanently: address, name, roles and password.", "people.erase"
    ),
)

"""The READMEs of a repository: of the whole, and of each schema."""

from collections.abc import Sequence

from tablewright.design.deployment import Deployment
from tablewright.design.environments import Environment
from tablewright.design.repository.templates import filled
from tablewright.design.schemas import TableSchema


def repository_readme(deployments: Sequence[Deployment], schemas: Sequence[tuple[str, TableSchema]]) -> str:
    tables = [f"| [{schema.table_name}]({path}) | {schema.description} |" for path, schema in schemas]
    environments = [_environment(each.environment) for each in deployments]
    said = {
        "@system@": deployments[0].name,
        "@tables@": "\n".join(tables),
        "@environments@": "\n".join(environments),
        "@environment@": deployments[0].environment.name,
    }
    return filled("repository.md", said)


def _environment(said: Environment) -> str:
    replicas = ", ".join(said.replicas) or "none"
    return f"| `terraform/{said.name}` | {said.account or 'yours'} | {said.region} | {replicas} |"


def schema_readme(path: str, schema: TableSchema) -> str:
    """The keys, attributes and indexes of a schema as tables."""
    key = schema.primary_key
    keys = [each for each in (key.partition_key, key.sort_key) if each is not None]
    lines = [
        f"# {schema.table_name}",
        "",
        schema.description,
        "",
        f"From `{path.rpartition('/')[2]}`.",
        "",
        "| key | type | pattern |",
        "|---|---|---|",
        *(f"| `{each.name}` | {each.type} | `{each.pattern}` |" for each in keys),
        "",
        "| attribute | type | required | what |",
        "|---|---|---|---|",
        *(
            f"| `{each.name}` | {each.type} | {'yes' if each.required else 'no'} | {_cell(each.description)} |"
            for each in schema.attributes
        ),
        "",
    ]
    indexes = (*schema.global_secondary_indexes, *schema.local_secondary_indexes)
    if indexes:
        lines += ["| index | keys | projects | for |", "|---|---|---|---|"]
        for each in indexes:
            parts = ", ".join(f"`{name}`" for name in _names(each.partition_key) + _names(each.sort_key))
            lines.append(
                f"| `{each.index_name}` | {parts} | {each.projection_type} | {_cell(each.description)} |"
            )
        lines.append("")
    if schema.entities:
        lines += ["| also stored | partition | sort | what |", "|---|---|---|---|"]
        lines += [
            f"| {each.name} | `{each.partition_key}` | {f'`{each.sort_key}`' if each.sort_key else ''} "
            f"| {_cell(each.description)} |"
            for each in schema.entities
        ]
        lines.append("")
    return "\n".join(lines)


def _names(said: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if said is None else (said,) if isinstance(said, str) else said


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

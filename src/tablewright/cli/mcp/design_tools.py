"""Tools about designs: list, description, findings, cost, scale, heat, diff, what a read would do. They need no tables.

Must hold: an answer takes seconds, whatever is asked: multiples, simulated time and documents have limits.
Elsewhere: what each computes (design/description.py, design/review, design/cost, design/partitions.py, design/heat,
design/diff); the same as commands (cli/design/, cli/scale.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from tablewright.cli.design.cost import MAX_MONTHS, MAX_TIMES, environment_of, report_json, report_text
from tablewright.cli.design.diff import changes_text
from tablewright.cli.design.heat import heat_json, heat_text, refuse_no_load
from tablewright.cli.mcp.served_designs import ServedDesign, design_in
from tablewright.cli.mcp.tools import (
    Answer,
    Tool,
    ToolArgument,
    ToolRefused,
    optional,
    read_arguments,
    required,
)
from tablewright.cli.scale import TIMES, scale_json, scale_text
from tablewright.design.cost import Options, cost_of
from tablewright.design.description import describe
from tablewright.design.diff import changes
from tablewright.design.heat import ASSUMED_KEYS, EXPONENT, heat_of

# A simulation of 10 000 times the load of the largest shipped design takes 13 s, of a million times minutes.
MOST_HEAT, MOST_SECONDS, USUAL_SECONDS = 10_000, 900, 900
# The largest shipped design is 124 000 characters; YAML is read at about 100 000 a second.
MOST_DOCUMENT = 250_000


def design_tools(designs: Mapping[str, ServedDesign]) -> Iterator[Tool]:
    """A tool for each question; each names its design."""
    which = required("design", Literal[tuple(designs)], "The name of a design.")
    yield Tool(
        "list_designs", "Designs", "The designs that this server knows.", (), lambda _: _listed(designs)
    )
    yield _tool("describe_design", "Describe a design", (which,), designs, described_design,
                "Tables, keys, indexes, entities with their fields, and access patterns of a design.")  # fmt: skip
    yield _tool("check_design", "Check a design", (which,), designs, checked_design,
                "What the rules find in a design, with reasons and fixes.")  # fmt: skip
    times = Annotated[Decimal, Field(gt=0, le=MAX_TIMES)]
    months = Annotated[int, Field(ge=1, le=MAX_MONTHS)]
    cost = (
        which,
        optional("times", times, "A multiple of the stated load; 1 if left out."),
        optional("months", months, "Months of growth of what is never deleted; 12 if left out."),
        optional("environment", str, "An environment of the design; its production if left out."),
    )
    yield _tool("cost_of_design", "Cost of a design", cost, designs, priced_design,
                "What a design costs a month on DynamoDB for its stated load.")  # fmt: skip
    several = Annotated[list[Annotated[int, Field(ge=1, le=MAX_TIMES)]], Field(min_length=1, max_length=8)]
    scale = (
        which,
        optional("times", several, f"Multiples of the load; {', '.join(map(str, TIMES))} if left out."),
    )
    yield _tool("scale_of_design", "Scale of a design", scale, designs, scaled_design,
                "A design at multiples of its load: units, partitions, cost, hot keys.")  # fmt: skip
    yield _tool("heat_of_design", "Heat of a design", (which, *_heat_arguments()), designs, heat_of_design,
                "The load of a design on partitions, simulated: which keys are throttled, and the cure.")  # fmt: skip
    document = Annotated[str, Field(max_length=MOST_DOCUMENT)]
    other = optional("document", document, "A new version: the text of a design file, JSON or YAML. If left out: the "
                     "design's own file as it is now.")  # fmt: skip
    yield _tool("diff_design", "Compare versions of a design", (which, other), designs, compared_design,
                "What changes from the design at the start of this server to a new version, and whether a change "
                "needs nothing, a backfill or a new table.")  # fmt: skip


def _heat_arguments() -> tuple[ToolArgument, ...]:
    times = Annotated[int, Field(ge=1, le=MOST_HEAT)]
    seconds = Annotated[int, Field(ge=60, le=MOST_SECONDS)]
    keys = Annotated[int, Field(ge=1, le=10**9)]
    zipf = Annotated[float, Field(ge=0, le=5)]
    return (
        optional("times", times, "A multiple of the stated load; 1 if left out."),
        optional("seconds", seconds, f"How long is simulated; {USUAL_SECONDS} if left out."),
        optional("keys", keys, "How many values each key has that grows with the users; computed if left out, or "
                 f"assumed to be {ASSUMED_KEYS}."),
        optional("zipf", zipf, f"The exponent of Zipf's law, 0 for keys that are used alike; {EXPONENT} if left out."),
    )  # fmt: skip


def _tool(
    name: str,
    title: str,
    arguments: tuple[ToolArgument, ...],
    designs: Mapping[str, ServedDesign],
    reading: Any,
    about: str,
) -> Tool:
    def run(given: Mapping[str, Any]) -> Answer:
        rest = {name: value for name, value in given.items() if name != "design"}
        answer: Answer = reading(designs[given["design"]], **rest)
        return answer

    return Tool(name, title, about, arguments, run)


def _listed(designs: Mapping[str, ServedDesign]) -> Answer:
    return Answer({"designs": [
        {
            "name": design.name,
            "version": design.version,
            "about": design.about,
            "tables": list(design.tables),
            "entities": [shape.tag for shape in design.shapes],
            "patterns": [*(plan.name for plan in design.plans), *(plan.name for plan in design.searches)],
            "environments": list(design.environments),
        }
        for design in (each.started for each in designs.values())
    ]})  # fmt: skip


def described_design(served: ServedDesign) -> Answer:
    text = describe(served.now)
    return Answer({"design": served.started.name, "description": text}, text)


def checked_design(served: ServedDesign) -> Answer:
    found = [asdict(each) for each in served.findings()]
    return Answer({
        "design": served.started.name,
        "findings": [each for each in found if not each["reason"]],
        "accepted": [each for each in found if each["reason"]],
    })  # fmt: skip


def priced_design(
    served: ServedDesign, times: Decimal = Decimal(1), months: int = 12, environment: str | None = None
) -> Answer:
    design = served.now
    report = cost_of(design, environment_of(design, environment), options=Options(times, months))
    return Answer(report_json(report), report_text(report, explain=False))


def scaled_design(served: ServedDesign, times: Sequence[int] = TIMES) -> Answer:
    design = served.now
    return Answer(scale_json(design, tuple(times)), scale_text(design, tuple(times)))


def heat_of_design(
    served: ServedDesign,
    times: int = 1,
    seconds: int = USUAL_SECONDS,
    keys: int | None = None,
    zipf: float = EXPONENT,
) -> Answer:
    design = served.now
    refuse_no_load(design.name, (design,))
    heat = heat_of(design, Decimal(times), seconds=seconds, exponent=zipf, keys=keys)
    return Answer(heat_json(heat), heat_text(heat))


def compared_design(served: ServedDesign, document: str | None = None) -> Answer:
    if document is None and served.file is None:
        raise ToolRefused(
            "document is required: this design is Python, which is not read again; give the text of a design file."
        )
    new = served.now if document is None else design_in(document)
    found = changes(served.started, new)
    value = {"design": served.started.name, "changes": [asdict(each) for each in found]}
    return Answer(value, changes_text(found, is_whole=True))


def explain_tool(tools: Sequence[Tool]) -> Tool:
    """What a read would send, to which index, and what it would cost; nothing is run."""
    reads = {tool.name: tool for tool in tools if tool.explain is not None}

    def run(given: Mapping[str, Any]) -> Answer:
        tool = reads.get(given["tool"])
        if tool is None or tool.explain is None:
            raise ToolRefused(
                f"{given['tool']} is not a tool that reads tables; list_designs names the patterns."
            )
        plan = tool.explain(read_arguments(tool.arguments, given.get("arguments", {})))
        value = {
            "name": plan.name,
            "calls": [{"verb": verb, "request": body} for verb, body in plan.calls],
            "index": plan.index,
            "readUnits": plan.read_units,
            "writeUnits": plan.write_units,
            "notes": list(plan.notes),
        }
        return Answer(value, str(plan))

    arguments = (
        required("tool", str, "The name of a tool that reads: DESIGN_PATTERN or DESIGN_ENTITY_get."),
        optional("arguments", dict[str, Any], "Its arguments."),
    )
    about = "The exact DynamoDB request of a read, the index it uses and its units. Nothing is run."
    return Tool("explain_request", "Explain a request", about, arguments, run)

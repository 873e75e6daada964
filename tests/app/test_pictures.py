"""Pictures of designs: what is drawn is what the design says, for readers who see it and for those who do not."""

import re
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path

import pytest
from tests.app.library import library

from tablewright.app.pictures import KINDS, pictures_of
from tablewright.app.pictures.canvas import no_links
from tablewright.app.pictures.entity_map import graph_of
from tablewright.app.pictures.item_collections import collections_of, item_collections
from tablewright.app.pictures.key_anatomy import codec_words, key_anatomy
from tablewright.app.pictures.pattern_matrix import rows_of
from tablewright.app.pictures.state_machines import state_machine
from tablewright.app.systems import SYSTEMS
from tablewright.design import States
from tablewright.design.key_codecs import codec
from tablewright.kit.system import System

SHELVES = library.tables["shelves"]
BY_STATE = library.indexes[0]
SVG = "{http://www.w3.org/2000/svg}"
CSS = Path(str(import_module("tablewright.app").__file__)).parent / "static" / "pictures.css"


def test_entities_with_one_form_of_partition_key_are_in_one_collection_in_the_order_of_the_sort_key() -> None:
    found = collections_of(library, SHELVES)
    assert [[band.name for band in each.bands] for each in found] == [
        ["books", "notes"],
        ["books: unique isbn"],
    ]
    assert [band.is_many for band in found[0].bands] == [False, True], (
        "a book is one item, its notes are many"
    )
    assert [plan.name for plan in found[0].plans] == ["book_by_id", "notes_on"]


def test_an_index_has_collections_of_its_own() -> None:
    (found,) = collections_of(library, SHELVES, BY_STATE)
    assert [band.name for band in found.bands] == ["books"]
    assert found.bands[0].is_many, "many books are in one state"
    assert [plan.name for plan in found.plans] == ["books_by_state"]


def test_a_shard_or_a_day_in_the_partition_does_not_make_an_item_single() -> None:
    travel = import_module("tablewright.systems.travel.design").DESIGNS[0]
    table = next(iter(travel.tables.values()))
    bands = {band.name: band for each in collections_of(travel, table) for band in each.bands}
    assert bands["enrolment"].is_many, "its partition has a shard of the user only"
    assert not bands["profile"].is_many


def test_the_map_leads_from_entities_over_indexes_to_patterns() -> None:
    graph = graph_of(library, SHELVES)
    left, middle, right = [[node.name for node in column] for column in graph.columns]
    assert middle == ["shelves", "ByState"]
    stored, read = graph.edges
    assert {(left[one], middle[other]) for one, other, _ in stored} == {
        ("books", "shelves"),
        ("books", "ByState"),
        ("notes", "shelves"),
    }
    assert {(middle[one], right[other]) for one, other, _ in read} == {
        ("shelves", "book_by_id"),
        ("shelves", "notes_on"),
        ("ByState", "books_by_state"),
    }


def test_an_index_that_no_pattern_reads_is_marked() -> None:
    campus = import_module("tablewright.systems.campus.design").DESIGNS
    unread = {
        index.name
        for design in campus
        for index in design.indexes
        if not any(plan.index == index for plan in design.plans)
    }
    marked = {
        node.name
        for design in campus
        for table in design.tables.values()
        for node in graph_of(design, table).columns[1]
        if "p-unread" in node.kind
    }
    assert marked == unread


def test_the_matrix_says_how_each_pattern_reads() -> None:
    columns, rows = rows_of(library, SHELVES)
    assert columns == ["shelves", "ByState"]
    assert {row.name: (columns[row.column], row.reads) for row in rows} == {
        "book_by_id": ("shelves", "item"),
        "notes_on": ("shelves", "range"),
        "books_by_state": ("ByState", "all ↓"),
    }


def test_each_part_of_a_key_names_its_field_and_how_it_is_written() -> None:
    drawn = key_anatomy(library.shape("notes"), name="keys")
    assert "at: UTC time with milliseconds, of fixed width" in drawn.inline()
    assert "SK of the table: NOTE#{at:ms}, is made of at." in drawn.about


def test_each_part_of_a_key_can_be_focused_and_then_says_what_it_is() -> None:
    drawn = key_anatomy(library.shape("notes"), name="keys")
    root = ET.fromstring(drawn.document().encode())
    focusable = [each for each in root.iter(f"{SVG}g") if each.get("tabindex") == "0"]
    pieces = sum(len(key.template.pieces) for key in library.shape("notes").primary)
    assert len(focusable) == pieces > 0
    for each in focusable:
        said = each.findtext(f"{SVG}text[@class='p-said']")
        assert said
        assert str(each.get("aria-label")).endswith(said)
        assert each.findtext(f"{SVG}title") == said


@pytest.mark.parametrize("count", [2, 9, 30])
def test_states_that_do_not_fit_in_a_row_go_on_in_the_next(count: int) -> None:
    names = [f"state {at}" for at in range(count)]
    moves = {
        name: {names[(at - 3) % count]: (), names[(at + 1) % count]: ()} for at, name in enumerate(names)
    }
    drawn = state_machine(States("state", start=names[0], moves=moves), entity="case", name="x")
    root = ET.fromstring(drawn.document().encode())
    boxes = [box.attrib for box in root.iter(f"{SVG}rect") if box.get("rx") == "8"]
    assert len({(box["x"], box["y"]) for box in boxes}) == len(boxes) == count
    assert float(root.attrib["width"]) <= 880
    assert len({box["y"] for box in boxes}) == {2: 1, 9: 2, 30: 5}[count]
    edges = [str(each.get("d")) for each in root.iter(f"{SVG}path") if each.get("class") == "p-edge"]
    assert len(edges) == sum(name != end for name, ends in moves.items() for end in ends)
    ys = [float(y) for edge in edges for y in re.findall(r"[MC ][\d.-]+ ([\d.-]+)", edge)]
    assert min(ys) >= 0
    assert max(ys) <= float(root.attrib["height"])


@pytest.mark.parametrize(
    ("name", "words"),
    [("12", "12 digits"), ("8.2", "2 decimal places"), ("shard.8", "one of 8 shards"), ("hash", "digest"),
     ("only.OPEN.LATE", "OPEN or LATE"), ("day", "its day"), ("unless", "is false")],
)  # fmt: skip
def test_every_codec_has_words(name: str, words: str) -> None:
    assert words in codec_words(codec(name))


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_picture_of_every_system_is_a_document_with_a_title_a_description_and_nothing_outside_of_it(
    system: System,
) -> None:
    designs = import_module(f"tablewright.systems.{system.name}.design").DESIGNS
    for design in designs:
        pictures = pictures_of(design)
        names = [each.name for each in pictures]
        assert len(set(names)) == len(names)
        assert {each.kind for each in pictures} <= set(KINDS)
        for each in pictures:
            root = ET.fromstring(each.draw(no_links).document().encode())
            assert root.find(f"{SVG}title") is not None, each.name
            assert root.findtext(f"{SVG}desc"), each.name
            wide, high = (float(root.attrib[name]) for name in ("width", "height"))
            for box in root.iter(f"{SVG}rect"):
                assert float(box.attrib.get("x", 0)) + float(box.attrib["width"]) <= wide, each.name
                assert float(box.attrib.get("y", 0)) + float(box.attrib["height"]) <= high, each.name


def test_a_file_has_its_colours_for_light_and_dark_and_a_page_takes_them_from_the_stylesheet() -> None:
    drawn = item_collections(library, SHELVES, name="x")
    assert "light-dark" not in drawn.document()
    assert "prefers-color-scheme: dark" in drawn.document()
    assert "<style" not in drawn.inline()
    rules = CSS.read_text().split("*/")[-1]
    assert rules.count("#") == 2 * rules.count("light-dark(#"), (
        "a colour outside of light-dark() has no dark half"
    )


def test_names_in_a_picture_are_escaped() -> None:
    drawn = item_collections(library, SHELVES, name="x", link=lambda target, name: f"/{target}/{name}?a&b")
    assert "?a&amp;b" in drawn.inline()

"""Findings, the rules, the check of a document, and pictures, as pages."""

import json
import re
from html import unescape
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from tests.app.browsing import Enter
from tests.app.test_console_frame import text_of

from tablewright.app.own_designs import TAKEN
from tablewright.app.runtime import Runtime
from tablewright.app.serve import app_of
from tablewright.design import files as design_files
from tablewright.design.check.codes import CODES
from tablewright.design.files import written
from tablewright.design.files.text import to_yaml_text
from tablewright.design.review import RULES, SECTIONS
from tablewright.systems.travel.design import TRAVEL

CHECK = "/console/designs/check"
AS_WRITTEN = Path(__file__).parents[2] / "examples" / "as-written" / "004.json"


@pytest.fixture
def rosa(enter: Enter) -> httpx.Client:
    return enter("engineer_rosa")


def uploaded(rosa: httpx.Client, name: str, content: bytes) -> httpx.Response:
    return rosa.post(CHECK, files={"file": (name, content)}, data={"document": ""})


def test_a_design_says_how_many_findings_are_open_and_shows_each_with_its_fix(rosa: httpx.Client) -> None:
    page = text_of(rosa.get("/console/designs/library/findings"))
    for words in ("Findings in library", "Errors", "Warnings", "Accepted", "Fix:"):
        assert words in page
    assert 'href="/console/designs/library/findings"' in rosa.get("/console/designs/library").text


def test_every_rule_is_in_the_catalogue_and_has_a_page_with_both_examples(rosa: httpx.Client) -> None:
    listed = "".join(rosa.get("/console/designs/rules", params={"section": name}).text for name in SECTIONS)
    assert [rule.code for rule in RULES if f'/rules/{rule.code}"' not in listed] == []
    page = text_of(rosa.get("/console/designs/rules/IDX-LOWCARD"))
    assert "A bad example" in page
    assert "A good example" in page
    assert rosa.get("/console/designs/rules/NO-SUCH").status_code == 404
    assert rosa.get("/console/designs/rules?section=Nothing").status_code == 400


def test_an_uploaded_document_shows_its_findings_by_line(rosa: httpx.Client) -> None:
    page = uploaded(rosa, "004.json", AS_WRITTEN.read_bytes())
    assert page.status_code == 200
    words = text_of(page)
    assert "Customer portal, as written" in words
    lines = [int(each.split()[0]) for each in words.split(" line ")[1:] if each.split()[0].isdigit()]
    assert len(lines) > 50
    assert lines == sorted(lines)


def test_a_pasted_document_is_checked_and_stays_in_the_field(rosa: httpx.Client) -> None:
    given = json.dumps({"name": "mine", "tables": [{"name": "t", "hash": {"name": "id"}}]})
    page = rosa.post(CHECK, data={"document": given})
    assert "No open findings" in text_of(page) or "Fix:" in text_of(page)
    assert "&#34;name&#34;: &#34;mine&#34;" in page.text


@pytest.mark.parametrize("name", ["example.yaml", "example.json"])
def test_an_uploaded_design_file_shows_its_findings_its_cost_and_its_pictures(
    rosa: httpx.Client, name: str
) -> None:
    page = uploaded(rosa, name, files(design_files).joinpath(name).read_bytes())
    assert page.status_code == 200
    words = text_of(page)
    for each in ("No open findings", "Monthly cost", "$0.47", "Item collections of shop", "Keys of order"):
        assert each in words
    assert page.text.count("<svg") >= 7


def test_a_finding_in_a_design_file_has_its_line(rosa: httpx.Client) -> None:
    document = {name: part for name, part in written(TRAVEL).document.items() if name != "accepted"}
    page = uploaded(rosa, "travel.yaml", to_yaml_text(document).encode())
    assert page.status_code == 200
    assert re.search(r"finding-line\">line \d+<", page.text)


def test_what_can_be_fixed_is_shown_as_a_diff(rosa: httpx.Client) -> None:
    good = files(design_files).joinpath("example.yaml").read_bytes()
    refused = uploaded(rosa, "shop.yaml", good.replace(b"    ttl: expiresAt\n", b""))
    assert "+    ttl: ttl" in refused.text
    pasted = rosa.post(
        CHECK, data={"document": good.decode().replace("    ttl: expiresAt\n", "").replace("\n", "\r\n")}
    )
    assert "+    ttl: ttl\n" in pasted.text
    facts = b'{"name": "x", "calls": [{"name": "all", "verb": "query", "table": "t"}]}'
    found = unescape(uploaded(rosa, "x.json", facts).text)
    assert "EXPR-NOPAGE" in found
    assert '"table": "t", "pages": true}]}' in found
    assert "Changes as a diff" not in uploaded(rosa, "shop.yaml", good).text


def test_names_that_are_nearly_known_are_fixed_in_the_diff_and_what_is_left_is_said(
    rosa: httpx.Client,
) -> None:
    good = files(design_files).joinpath("example.yaml").read_text("utf-8")
    wrong = good.replace("descending: true", "desending: true")
    page = uploaded(rosa, "shop.yaml", wrong.encode())
    assert page.status_code == 422
    assert "+    descending: true" in page.text
    assert "A check of the fixed text finds nothing." in text_of(page)
    # The rules see the unknown field only after the name of the key is known.
    both = wrong.replace("pk: CUSTOMER#{customer_id}", "pk: CUSTOMER#{stranger}", 1)
    words = text_of(uploaded(rosa, "shop.yaml", both.encode()))
    assert "A check of the fixed text finds 1 finding:" in words
    assert "stranger" in words.partition("A check of the fixed text")[2]


def test_an_empty_object_is_refused_in_our_words(rosa: httpx.Client) -> None:
    words = text_of(uploaded(rosa, "x.json", b"{}"))
    assert "name : is missing" in words
    assert "Field required" not in words


def test_a_design_file_without_load_has_no_cost_and_says_what_to_state(rosa: httpx.Client) -> None:
    text = "format: tablewright-design/1\nname: bare\ntables:\n"
    text += "- {name: bare, pk: id, entities: [{tag: a, pk: 'A#{x}', fields: {x: string}}]}\n"
    page = rosa.post(CHECK, data={"document": text})
    assert page.status_code == 200
    assert "No cost" in text_of(page)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.yaml", b"format: tablewright-design/1\nname: x\ntabels: []\n", "line 3: tabels : is not known here"),
        ("x.yaml", b"format: tablewright-design/1\nname: x\nname: y\n", "is twice in one object"),
        ("x.yaml", b"a: &a [1]\nb: [*a, *a]\n", "the alias *a is not read"),
        ("x.yaml", b"!!python/object/apply:os.system [ls]\n", "is not for a design file"),
        ("x.yaml", b"a: [", "is not YAML"),
        ("x.yaml", b"just words", "neither a design file nor a document of facts"),
        ("shop.py", b"raise SystemExit", "uploaded code is never run"),
        ("x.json", b"\xff\xfe", "not text in UTF-8"),
        ("x.json", b"{", "Invalid JSON"),
        ("x.json", b'{"name": "x", "tabels": []}', "tabels : is not known here"),
        ("x.json", b'{"name": "x", "formulas": [{"quantity": "q", "formula": "1 +", "above": 0}], '
         b'"bounds": [{"quantity": "q", "low": 0, "high": 1}]}', "the rule DOC-RANGE cannot be applied"),
    ],
)  # fmt: skip
def test_what_is_not_a_document_is_refused_in_words(
    rosa: httpx.Client, name: str, content: bytes, words: str
) -> None:
    page = uploaded(rosa, name, content)
    assert page.status_code == 422
    assert words in text_of(page)


def test_what_keeps_a_design_from_being_built_is_a_finding_with_a_page_for_its_rule(
    rosa: httpx.Client,
) -> None:
    text = b"format: tablewright-design/1\nname: x\ntables:\n- name: abc\n  pk: id\n  entities:\n"
    page = uploaded(rosa, "x.yaml", text + b'  - {tag: a, pk: "A#{y}", fields: {x: string}}\n')
    assert page.status_code == 200
    words = text_of(page)
    assert "Errors 1" in words or "Errors 2" in words
    assert "tables[0].entities[0].pk" in words
    assert "The design cannot be built with these errors" in words
    assert "Add x to this console" not in words
    (code, *_) = re.findall(r'href="/console/designs/rules/(K\d+)"', page.text)
    rule = rosa.get(f"/console/designs/rules/{code}")
    assert rule.status_code == 200
    assert CODES[code].explanation in unescape(rule.text)


def test_rules_of_a_build_are_in_the_catalogue(rosa: httpx.Client) -> None:
    listed = rosa.get("/console/designs/rules?section=Build").text
    assert [code for code in CODES if f'/rules/{code}"' not in listed] == []


def test_the_findings_of_a_shipped_design_name_its_system_and_those_of_the_app_no_command(
    rosa: httpx.Client,
) -> None:
    assert "tablewright design check library --accepted" in text_of(
        rosa.get("/console/designs/library/findings")
    )
    assert "tablewright design check" not in text_of(rosa.get("/console/designs/house/findings"))


def test_nothing_given_is_a_mistake_beside_the_field(rosa: httpx.Client) -> None:
    assert "Choose a file or paste a document." in text_of(rosa.post(CHECK, data={"document": " "}))


def test_a_rule_offers_its_bad_example_to_be_checked(rosa: httpx.Client) -> None:
    page = rosa.get(f"{CHECK}?rule=IDX-LOWCARD")
    assert "&#34;status&#34;" in page.text


def test_the_check_is_for_engineers(enter: Enter) -> None:
    assert enter(None, follow=False).get(CHECK).status_code in (302, 303, 307)


def test_a_picture_has_a_page_and_a_file_without_scripts(rosa: httpx.Client) -> None:
    at = "/console/designs/library/pictures/library-shelves-collections"
    page = rosa.get(at)
    assert 'role="group"' in page.text
    assert 'href="/console/designs/library/entities/books"' in page.text
    assert f'{at}-ByState"' in page.text, "a switch for each index"
    file = rosa.get(f"{at}.svg")
    assert file.headers["content-type"] == "image/svg+xml"
    assert "default-src 'none'" in file.headers["content-security-policy"]
    assert rosa.get("/console/designs/library/pictures/nothing").status_code == 404


def test_no_design_can_take_the_name_of_a_page_of_the_workbench(runtime: Runtime) -> None:
    area = app_of(runtime).state.areas[-1]
    firsts = {getattr(route, "path", "").strip("/").split("/")[0] for route in area.router.routes}
    assert {first for first in firsts if first and not first.startswith("{")} == set(TAKEN)

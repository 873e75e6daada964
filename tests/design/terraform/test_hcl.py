"""Data as HCL: what is text stays text, and equal signs stand where `terraform fmt` wants them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tablewright.design.terraform.hcl import (
    NULL,
    Comment,
    Interpolated,
    Json,
    Reference,
    block,
    quoted,
    text,
)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("plain", '"plain"'),
        ('a "b" \\ c', '"a \\"b\\" \\\\ c"'),
        ("${var.secret} %{if true}", '"$${var.secret} %%{if true}"'),
        ("two\nlines", '"two\\nlines"'),
    ],
)
def test_text_is_never_an_expression(said: str, written: str) -> None:
    assert quoted(said) == written


def test_a_block_has_its_equal_signs_in_columns_that_end_with_what_takes_several_lines() -> None:
    made = block(
        "resource",
        "thing",
        "one",
        {
            "a": 1,
            "long_name": Decimal("0.5"),
            "policy": Json({"Sid": "x", "aws:Key": Reference("var.key")}),
            "b": True,
            "cc": NULL,
            "left_out": None,
        },
        None,
        block("inner"),
        block("another", {"last": Interpolated("${var.a}/b")}),
    )
    assert (
        text([Comment("What it is."), made])
        == """# What it is.
resource "thing" "one" {
  a         = 1
  long_name = 0.5
  policy = jsonencode({
    Sid       = "x"
    "aws:Key" = var.key
  })
  b  = true
  cc = null

  inner {}

  another {
    last = "${var.a}/b"
  }
}
"""
    )


def test_a_short_list_is_one_line_and_a_long_one_a_line_for_each() -> None:
    made = block("x", {"few": ["a", "b"], "many": ["a", "b", "c", "d"], "none": []})
    assert (
        text([made])
        == """x {
  few = ["a", "b"]
  many = [
    "a",
    "b",
    "c",
    "d",
  ]
  none = []
}
"""
    )

"""The screens every page is looked at on."""

import pytest

# Two of the four combinations: what is too wide does not depend on the colours, nor a contrast on the width.
on_every_screen = pytest.mark.parametrize(
    ("width", "dark"), [(1280, False), (390, True)], ids=["wide-light", "narrow-dark"]
)

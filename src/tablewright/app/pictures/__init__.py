"""A design as pictures: SVG made on the server, on pages and as files. Pure functions of a `Design`.

item_collections.py (what one partition holds), entity_map.py (entities, indexes, patterns), pattern_matrix.py (patterns
by index), state_machines.py, key_anatomy.py (parts of keys and the fields they come from), catalogue.py (every picture
of a design), canvas.py (what a picture is). Colours are in app/static/pictures.css.
"""

from tablewright.app.pictures.canvas import Picture
from tablewright.app.pictures.catalogue import KINDS, DesignPicture, pictures_of

__all__ = ["KINDS", "DesignPicture", "Picture", "pictures_of"]

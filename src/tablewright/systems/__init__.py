"""The systems in the box: siblings of one shape that never import each other."""

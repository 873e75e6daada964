"""The web frame: layout, forms, lists, charts, search; systems and the app put their pages into it. See README.md."""

"""`tablewright mcp`: designs and their access patterns as tools of the Model Context Protocol.

Elsewhere: what a tool is (tools.py), tools that read and write tables (pattern_tools.py, entity_tools.py), tools about
designs (design_tools.py), the protocol (server.py, the only module that needs the extra), the command (serve.py).
"""

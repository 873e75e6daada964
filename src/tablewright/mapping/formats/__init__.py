"""Tables of other tools as designs, and designs as theirs: CloudFormation, Terraform, NoSQL Workbench, DescribeTable.

A reader makes `ImportedTable`s, from which one function makes the document of a design file; a writer takes a design or
a deployment. Elsewhere: Terraform as it is deployed (design/terraform), the design file (design/files).
"""

from tablewright.mapping.formats.cloudformation import template
from tablewright.mapping.formats.imported import imported_design
from tablewright.mapping.formats.imported_tables import ImportedTable
from tablewright.mapping.formats.sources import FormatUnknown, tables_in
from tablewright.mapping.formats.workbench import workbench_model

__all__ = ["FormatUnknown", "ImportedTable", "imported_design", "tables_in", "template", "workbench_model"]

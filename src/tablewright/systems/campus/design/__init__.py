"""Campus Cloud's design: the five tables of the document, and seven that it lacks.

`campus-cloud-files`, `-shares`, `-assignments`, `-submissions` and `-users` are those of the document with their
indexes; beside them are courses and enrolments (CC-D17), guards of unique values (CC-D20), a library (versions,
folders, uploads, links), marking (marks, comments, regrade requests), notifications and the audit log.

Each module has some of the tables with their access patterns: base.py the design and its environments, people.py,
files.py, shares.py, courses.py, assignments.py, submissions.py, notices.py.
"""

# In the order in which they are listed.
# isort: off
from tablewright.systems.campus.design.base import *  # noqa: F403  # its `__all__`
from tablewright.systems.campus.design.base import CAMPUS
from tablewright.systems.campus.design.files import *  # noqa: F403  # its `__all__`
from tablewright.systems.campus.design.shares import *  # noqa: F403  # its `__all__`
from tablewright.systems.campus.design.assignments import *  # noqa: F403  # its `__all__`
from tablewright.systems.campus.design.submissions import *  # noqa: F403  # its `__all__`
from tablewright.systems.campus.design.people import *  # noqa: F403  # its `__all__`
from tablewright.systems.campus.design.courses import *  # noqa: F403  # its `__all__`
from tablewright.systems.campus.design.notices import *  # noqa: F403  # its `__all__`

import tablewright.systems.campus.design.acceptances  # noqa: F401  # before it is built

CAMPUS.build()
DESIGNS = (CAMPUS,)

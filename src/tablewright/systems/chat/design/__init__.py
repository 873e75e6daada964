"""Zoo chat's design: the table `conversation-v2` of the document, the ten tables that exist, and what they lack.

Physical names are `quest-{environment}-{table}`. Each module has some of the tables with their access patterns:
base.py the design and its environments, conversations.py, spread.py, work.py (tasks, mail, the compliance log),
families.py, people.py, zoo.py, agents.py, legacy.py.
"""

# In the order in which they are listed.
# isort: off
from tablewright.systems.chat.design.base import *  # noqa: F403  # its `__all__`
from tablewright.systems.chat.design.base import CHAT
from tablewright.systems.chat.design.conversations import *  # noqa: F403  # its `__all__`
from tablewright.systems.chat.design.spread import *  # noqa: F403  # its `__all__`
from tablewright.systems.chat.design.work import *  # noqa: F403  # its `__all__`
from tablewright.systems.chat.design.families import *  # noqa: F403  # its `__all__`
from tablewright.systems.chat.design.people import *  # noqa: F403  # its `__all__`
from tablewright.systems.chat.design.zoo import *  # noqa: F403  # its `__all__`
from tablewright.systems.chat.design.agents import *  # noqa: F403  # its `__all__`
from tablewright.systems.chat.design.legacy import *  # noqa: F403  # its `__all__`

import tablewright.systems.chat.design.acceptances  # noqa: F401  # before it is built

CHAT.build()
DESIGNS = (CHAT,)

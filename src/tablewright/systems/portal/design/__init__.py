"""The portal's design: three tables of its own, and one for what dies by itself.

`tenants`, `products` and `campaigns` are the document's. `portal_desk` holds one-time secrets, limits and the outbox,
because the three have no TTL, and the tallies, which are counted from their streams. Orders and audit entries carry
other attribute names than the roots they lie beside (`orderStatus`, `placedAt`, `auditAt`), so that they stay out of
the roots' indexes.

Each part holds some of the tables, with what is asked of them: base.py what all rest on, customers.py tenants and their
orders, catalogue.py products, campaigns.py campaigns, history.py who changed what, mail_and_codes.py what dies by
itself.
"""

# In the order in which they are listed.
# isort: off
from tablewright.systems.portal.design.base import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.base import PORTAL
from tablewright.systems.portal.design.customers import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.catalogue import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.campaigns import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.history import *  # noqa: F403  # its `__all__`
from tablewright.systems.portal.design.mail_and_codes import *  # noqa: F403  # its `__all__`

PORTAL.build()
DESIGNS = (PORTAL,)

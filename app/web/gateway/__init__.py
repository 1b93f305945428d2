"""The gateway: what the services around the shop offer the public, forwarded as it should be and nothing else.

``/api/services/<name>/…`` leads to the paths of `table`. `docs/gateway.md` lists what passes and what does not.
"""

from app.web.gateway.door import GatewayDoor
from app.web.gateway.gateway import PATH, Gateway
from app.web.gateway.table import Endpoint, table
from app.web.gateway.upstream import Upstream, UpstreamConfig

__all__ = ["PATH", "Endpoint", "Gateway", "GatewayDoor", "Upstream", "UpstreamConfig", "table"]

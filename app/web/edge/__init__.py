"""What every request passes before it reaches a route: pure ASGI, outermost first.

Proxies        who really calls, and whether a trusted proxy vouches for the request's headers
Stamp          request id, X-Served-By and security headers on every answer
BodyLimit      413 for a body that is too large, announced or streamed
HostCheck      421 for a Host that is not ours
OriginCheck    403 for an unsafe request that another site sent
OverdueCheck   503 for an unsafe request that was answered for us already
HeadAsGet      HEAD where only GET is known
"""

from app.web.edge.body_limit import BodyLimit
from app.web.edge.head import HeadAsGet
from app.web.edge.host_check import HostCheck
from app.web.edge.origin_check import OriginCheck
from app.web.edge.overdue import OverdueCheck
from app.web.edge.proxies import Proxies
from app.web.edge.stamp import Stamp

__all__ = ["BodyLimit", "HeadAsGet", "HostCheck", "OriginCheck", "OverdueCheck", "Proxies", "Stamp"]

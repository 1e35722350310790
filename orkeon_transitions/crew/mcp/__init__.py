"""Tools from servers that speak the Model Context Protocol.

`block` reads what a crew file declares, `servers` holds the servers of one run. `client` and `process` are
the only ones that import the `mcp` package, and are loaded when a server is first needed.
"""

from orkeon_transitions.crew.mcp.block import McpServer, read_servers
from orkeon_transitions.crew.mcp.servers import ToolServers

__all__ = ["McpServer", "ToolServers", "read_servers"]

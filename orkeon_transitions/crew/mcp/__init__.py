"""Tools from servers that speak the Model Context Protocol.

`block` reads what a file declares, `servers` holds the servers of one run. `client`, `process` and `http`
are the only ones that import the `mcp` package or what it stands on, and are loaded when a server is needed.
What never belongs here: a server that the file does not declare.
"""

from orkeon_transitions.crew.mcp.block import McpServer, read_servers, told_to_servers
from orkeon_transitions.crew.mcp.servers import ToolServers

__all__ = ["McpServer", "ToolServers", "read_servers", "told_to_servers"]

"""Tools that reach out to the web: off unless a crew file lists the hosts that they may ask.

`block` reads that list, `addresses` judges where a name leads, `fetching` makes the requests and is the only
one that imports httpx, `reading` turns pages into text. What never belongs here: a connection to an address
that was not judged.
"""

from orkeon_transitions.crew.web.block import WebBlock, read_web
from orkeon_transitions.crew.web.tools import WEB_NAMES, check_web_tools, web_tools

__all__ = ["WEB_NAMES", "WebBlock", "check_web_tools", "read_web", "web_tools"]

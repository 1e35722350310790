"""What other frameworks call their tools: the same as one of ours, or one that we do not have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

SAME: Mapping[str, str] = {
    "FileReadTool": "file_read",
    "FileWriterTool": "file_write",
    "FileWriteTool": "file_write",
    "DirectoryReadTool": "directory_read",
    "ScrapeWebsiteTool": "web_scrape",
}
"""By CrewAI's class name; `file_read_tool` is read like `FileReadTool`."""

_SEARCH = "a search needs an MCP server (`mcpServers:`) or a function of yours"
_READ_FILE = "'file_read' reads files that are text"
_SCRAPE = "'web_scrape' reads a page, and `web: {allow: [...]}` switches it on"
_OWN = "an MCP server (`mcpServers:`) or a function of yours can do it"

NEAR: Mapping[str, str] = {
    "SerperDevTool": _SEARCH,
    "SerplyWebSearchTool": _SEARCH,
    "SerpApiGoogleSearchTool": _SEARCH,
    "BraveSearchTool": _SEARCH,
    "EXASearchTool": _SEARCH,
    "TavilySearchTool": _SEARCH,
    "LinkupSearchTool": _SEARCH,
    "GithubSearchTool": _SEARCH,
    "YoutubeVideoSearchTool": _SEARCH,
    "YoutubeChannelSearchTool": _SEARCH,
    "ArxivPaperTool": _SEARCH,
    "WebsiteSearchTool": _SCRAPE,
    "ScrapeElementFromWebsiteTool": _SCRAPE,
    "SeleniumScrapingTool": _SCRAPE,
    "SpiderTool": _SCRAPE,
    "FirecrawlScrapeWebsiteTool": _SCRAPE,
    "FirecrawlCrawlWebsiteTool": _SCRAPE,
    "FirecrawlSearchTool": _SEARCH,
    "JinaScrapeWebsiteTool": _SCRAPE,
    "BrowserbaseLoadTool": _SCRAPE,
    "TXTSearchTool": _READ_FILE,
    "CSVSearchTool": _READ_FILE,
    "MDXSearchTool": _READ_FILE,
    "XMLSearchTool": _READ_FILE,
    "JSONSearchTool": "'json_tool' checks JSON, 'file_read' reads it",
    "CodeDocsSearchTool": _SCRAPE,
    "DirectorySearchTool": "'directory_read' lists a directory, 'file_read' reads what is in it",
    "PDFSearchTool": _OWN,
    "DOCXSearchTool": _OWN,
    "RagTool": _OWN,
    "LlamaIndexTool": _OWN,
    "ComposioTool": _OWN,
    "CodeInterpreterTool": "code of a model is not run here; a function of yours may do so",
    "DallETool": _OWN,
    "VisionTool": _OWN,
    "NL2SQLTool": _OWN,
    "PGSearchTool": _OWN,
    "MySQLSearchTool": _OWN,
    "ApifyActorsTool": "'http_api' makes requests, and `web: {allow: [...]}` switches it on",
}
"""What is near, for those of CrewAI's class names that stand for nothing here."""


def meant(name: str, known: Collection[str]) -> str:
    """The tool that a name stands for: its own if there is one, else that of which it is another name."""
    if name in known:
        return name
    return _SAME_FOLDED.get(_folded(name), name)


def own_names(
    written: Iterable[str], known: Collection[str], automatic: Mapping[str, str]
) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """What tools that were named are called here, each once.

    Args:
        written: The names.
        known: The tools that there are.
        automatic: Those that are there without being named, and who has them: they are left out.

    Returns:
        The names, and what is to be said of them: a code and a sentence each.
    """
    names: dict[str, None] = {}
    remarks = []
    for name in dict.fromkeys(written):
        own = meant(name, known)
        if own in automatic and own not in known:
            remarks.append(("automatic-tool", f"'{own}' need not be named: every {automatic[own]} has it"))
            continue
        if own != name:
            remarks.append(("tool-alias", f"'{name}' is called '{own}' here"))
        names[own] = None
    return tuple(names), remarks


def near(name: str) -> str | None:
    """What there is in place of another framework's tool, in words; None if the name is none of theirs."""
    return _NEAR_FOLDED.get(_folded(name))


def _folded(name: str) -> str:
    """`FileReadTool`, `file_read_tool` and `File Read Tool` are one."""
    return "".join(char for char in name.casefold() if char.isalnum())


_SAME_FOLDED = {_folded(name): own for name, own in SAME.items()}
_NEAR_FOLDED = {_folded(name): words for name, words in NEAR.items()}

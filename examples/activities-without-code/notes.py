"""A server of the Model Context Protocol with one tool, over standard input and output."""

from instrc.server.mcp import serve

kept: list[str] = []


def keep_note(title: str, text: str) -> dict[str, object]:
    """Keep a note."""
    kept.append(text)
    return {"number": len(kept), "kept": title}


if __name__ == "__main__":
    serve(keep_note)

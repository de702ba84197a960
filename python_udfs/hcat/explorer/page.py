"""One HTML file from a bundle of ``web/`` and blocks of data, with a policy that lets nothing else run.

The policy names the hashes of the one script and the one style sheet. Data lies in script elements of a type that
browsers do not run. Texts of logs enter a page only there, and the interface writes them as text nodes.
"""

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

#: Folder of the built bundles and of their digests, which ``web/build.mjs`` writes.
_BUNDLES: Final = files("hcat.explorer") / "bundles"

#: What must not stand in a data block as it is: the end of the element, and what some parsers take for a line end.
_ESCAPES: Final = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})


def assemble_page(bundle: str, title: str, data: Mapping[str, Any]) -> str:
    """Return a page that holds an interface and its data."""
    script, style = read_bundle(f"{bundle}.js"), read_bundle(f"{bundle}.css")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash_source(script)}'",
            f"style-src '{_hash_source(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    blocks = "\n".join(_write_block(name, value) for name, value in data.items())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{html.escape(title)}</title>
<style>{style}</style>
</head>
<body>
{blocks}
<script>{script}</script>
</body>
</html>
"""


def read_bundle(name: str) -> str:
    """Return the text of a built file, after its digest was compared with the committed one."""
    content = (_BUNDLES / name).read_bytes()
    line = f"{hashlib.sha256(content).hexdigest()}  {name}"
    if line not in (_BUNDLES / "SHA256SUMS").read_text("ascii").splitlines():
        raise ValueError(f"{name} is not the bundle whose digest was committed: run make web, or install hcat again")
    text = content.decode("utf-8")
    if "</script" in text.lower() or "</style" in text.lower():
        raise ValueError(f"{name} would end its own element in a page")
    return text


def _hash_source(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _write_block(name: str, value: Any) -> str:
    if isinstance(value, bytes):
        kind, content = "application/octet-stream", base64.b64encode(value).decode("ascii")
    else:
        kind = "application/json"
        content = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)
    return f'<script type="{kind}" id="{html.escape(name)}">{content}</script>'

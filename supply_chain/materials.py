"""A bill of materials: what CycloneDX's own tool says of the environment, kept to the packages that hcat runs on."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from packaging.utils import canonicalize_name

from hcat.encoders import mpnet
from hcat.engine.devices import PACKAGED_SHA256
from hcat.engine.keys import hash_file
from supply_chain.closure import REPOSITORY, find_closure

#: Python of the environment that holds CycloneDX's tool alone; `make sbom` makes it.
TOOL: Final = Path(sys.prefix) / "sbom" / "bin" / "python"
_SHIPPED: Final = REPOSITORY / "python_udfs" / "hcat" / "encoders" / "weights"


def list_weights() -> list[dict[str, Any]]:
    """Return the weights that hcat ships or pins as components, with their SHA-256; all are Apache-2.0."""
    weights = {"all-MiniLM-L6-v2": PACKAGED_SHA256, "all-mpnet-base-v2": mpnet.WEIGHTS_SHA256}
    weights |= {
        path.parent.name: hash_file(path)
        for path in sorted(_SHIPPED.glob("*/*"))
        if path.suffix in (".safetensors", ".npy")
    }
    return [
        {
            "type": "machine-learning-model",
            "bom-ref": f"weights:{name}",
            "name": name,
            "hashes": [{"alg": "SHA-256", "content": digest}],
            "licenses": [{"license": {"id": "Apache-2.0"}}],
        }
        for name, digest in weights.items()
    ]


def make_bill() -> dict[str, Any]:
    """Return the bill of materials of an installation; the same environment gives the same bill."""
    if not TOOL.exists():
        raise RuntimeError("CycloneDX's tool is not installed: `make sbom` does that")
    command = [str(TOOL), "-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON"]
    command += ["--pyproject", str(REPOSITORY / "pyproject.toml"), "--mc-type", "library", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"cyclonedx-py: {done.stderr.strip().splitlines()[-1]}")
    return keep_closure(json.loads(done.stdout), {*find_closure()})


def keep_closure(bill: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return a bill with the components of some packages alone, and with the weights.

    Examples
    --------
    >>> bill = {"components": [{"name": "One", "bom-ref": "a"}, {"name": "two", "bom-ref": "b"}],
    ...         "dependencies": [{"ref": "a", "dependsOn": ["b"]}, {"ref": "b"}]}
    >>> kept = keep_closure(bill, {"one"})
    >>> [component["name"] for component in kept["components"]][:2], kept["dependencies"]
    (['One', 'all-MiniLM-L6-v2'], [{'ref': 'a', 'dependsOn': []}])
    """
    components = [each for each in bill["components"] if canonicalize_name(each["name"]) in names]
    left_out = {each["bom-ref"] for each in bill["components"]} - {each["bom-ref"] for each in components}
    dependencies = []
    for each in bill["dependencies"]:
        if each["ref"] not in left_out:
            on = {"dependsOn": [ref for ref in each["dependsOn"] if ref not in left_out]} if "dependsOn" in each else {}
            dependencies.append(each | on)
    return bill | {"components": [*components, *list_weights()], "dependencies": dependencies}


def write_bill(path: Path) -> int:
    """Write the bill and return its number of components."""
    bill = make_bill()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return len(bill["components"])

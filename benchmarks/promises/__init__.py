"""Every statistical promise of hcat, measured under generators that are made to break it.

`python -m benchmarks.promises` runs all parts and writes docs/promises.md. A part is a module of this package with a
function ``measure(count_runs, seed)`` that returns its promises; `common` has the generators that parts share.
"""

"""Collection: a test set goes to the REST endpoint of the application under test, and interactions come back.

``hcat collect`` reads the description of an endpoint (:mod:`~hcat.collection.endpoint`) and a test set
(:mod:`~hcat.collection.queries`), asks what was not answered yet (:mod:`~hcat.collection.sending`), keeps every
finished interaction in a journal (:mod:`~hcat.collection.journal`) and writes the raw logs that a build reads from it
(:mod:`~hcat.collection.run`).
"""

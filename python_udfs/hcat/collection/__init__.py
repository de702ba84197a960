"""Collection: send a test set to the REST endpoint of an application, and keep the interactions.

``hcat collect`` reads the description of an endpoint (:mod:`~hcat.collection.endpoint`) and a test set
(:mod:`~hcat.collection.queries`). It sends the queries that have no answer yet (:mod:`~hcat.collection.sending`) and
reads the replies (:mod:`~hcat.collection.replies`, :mod:`~hcat.collection.paths`). Every finished interaction is added
to a journal (:mod:`~hcat.collection.journal`), from which the raw logs for a build are written
(:mod:`~hcat.collection.run`).
"""

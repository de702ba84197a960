"""Find personal data in texts, mask it, and say whether the query or the context already held it.

=========================================  ========================================================================
:mod:`~hcat.privacy.spans`                 spans, tokens, and the plain form of characters
:mod:`~hcat.privacy.identifiers`           rules for numbers and contact details
:mod:`~hcat.privacy.numbers`               numbers that identify nobody
:mod:`~hcat.privacy.addresses`             rules for postal addresses
:mod:`~hcat.privacy.names`                 rules for names of persons and places
:mod:`~hcat.privacy.rules`                 all rules together
:mod:`~hcat.privacy.tagger`                names found by the entity tagger of spaCy
:mod:`~hcat.privacy.presidio`              numbers found by recognisers of Presidio
:mod:`~hcat.privacy.recognition`           everything that is found in a text, without overlap
:mod:`~hcat.privacy.masking`               masked values and texts
:mod:`~hcat.privacy.exposure`              where a value of an answer comes from
:mod:`~hcat.privacy.tables`                the same for tables of the warehouse
=========================================  ========================================================================
"""

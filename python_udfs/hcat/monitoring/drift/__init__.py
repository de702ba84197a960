"""Drift: whether scores and the mix of segments changed since the reference weeks.

The modules, in the order in which data flows:

- ``statistics``: the tests of one window against the reference, vectorised over series;
- ``chart``: the control chart of weeks, which alarms;
- ``sequential``: the test that watches every week;
- ``settings``: what the tests need to know;
- ``periods``: which weeks are compared;
- ``reading``: the tables of the warehouse as arrays;
- ``measuring``: the rows of every series, without alarms;
- ``alarms``: which rows of one build alarm;
- ``tables``: the whole, as a dbt model calls it.
"""

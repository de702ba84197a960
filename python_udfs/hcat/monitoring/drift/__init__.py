"""Drift: whether scores and the mix of segments changed since the reference weeks.

The modules, in the order in which data flows:

- ``statistics``: periods of many series and their error by cluster;
- ``chart``: the control chart of weeks, which alarms;
- ``settings``: what the tests need to know;
- ``periods``: which weeks are compared;
- ``reading``: the tables of the warehouse as arrays;
- ``measuring``: the rows of every series, without alarms;
- ``alarms``: which rows of one build alarm;
- ``tables``: the whole, as a dbt model calls it.
"""

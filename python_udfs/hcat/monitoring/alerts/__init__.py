"""Alerts: what the last build found that somebody must know, once, to a webhook and to a file.

The modules, in the order in which data flows:

- ``naming``: names and numbers, safe to show;
- ``events``: what the published copy holds that is worth telling;
- ``messages``: events as JSON for the webhook;
- ``record``: the file of alerts, and what is due by it;
- ``delivery``: the webhook, and how long it is tried;
- ``sending``: the whole.
"""

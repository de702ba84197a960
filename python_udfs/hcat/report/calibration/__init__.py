"""The section on calibration: how far the scores agree with raters, and how many labels are still needed.

:func:`hcat.report.calibration.section.describe_calibration` puts the section together from one module per figure or
table. All figures come from the marts, so that a published copy shows the same. Two tables of the full warehouse add
what no mart holds: the quantiles of merged strata and the reason of a decision. Where a table is
missing, the section says so in a sentence. Where a number could not be estimated, its status is shown in words.
Every query has a total order, so that the same warehouse gives the same rows in the same order.
"""

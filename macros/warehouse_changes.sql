{#
    What became different in warehouses since hcat 0.1.0: `hcat upgrade` does it, once, and a build does not start before.
    Only tables that remember something are listed, because a build makes all others anew. An entry may stay for ever: it
    looks at the table, and a table that is as it should be is left alone.

    renamed_columns   table -> {name before: name now}. The rows stay.
    recomputed        table -> a column that a later version added. Results by content key that lack it are dropped, and
                      the next build computes them.
    removed           tables that no model makes any more. They are dropped.
#}
{% macro warehouse_changes() %}
    {{ return({
        'renamed_columns': {},
        'recomputed': {
            'int_answers_overlapped': 'reference_recall',
            'int_pairs_entailed': 'deciding_classifier',
            'int_sentences_supported': 'claims_nothing',
        },
        'removed': ['int_tables_to_publish'],
    }) }}
{% endmacro %}

{# Columns and types of hcat_deletion_log, which has one row per deletion. #}
{% macro columns_of_deletions() %}
    {{ return({
        'deletion_number': 'bigint', 'command': 'string', 'reason': 'string', 'ids_sha256': 'string',
        'count_ids': 'bigint', 'count_interactions': 'bigint', 'count_queries': 'bigint', 'count_texts': 'bigint',
        'count_evaluations': 'bigint', 'weeks_before': 'date', 'deleted_at': 'timestamp', 'finished_at': 'timestamp',
        'after_build_number': 'bigint'
    }) }}
{% endmacro %}

{{ config(enabled=var('hcat_grammar'), tags=['grammar']) }}
{{ keys_that_repeat({
    'fct_grammar_calls': 'call_id',
    'fct_grammar_checks': 'check_id',
    'fct_grammar_counts': 'sql_template_id',
    'fct_grammar_queries': 'query_id',
    'fct_grammar_templates': 'candidate_id',
    'fct_grammar_texts': 'text_id',
    'fct_rejected_grammar_queries': 'query_group',
    'int_grammar_calls': 'call_id',
    'int_grammar_fillings': 'query_group',
    'int_grammar_queries_filled': 'query_id',
    'int_grammar_relations': 'table_name',
    'int_grammar_templates_made': 'candidate_id'
}) }}

{# A text with each private value (structs of length, value and masked, the longer first) replaced by its mask. #}
{% macro mask_values(text, private_values) %}
    case
        when {{ private_values }} is null or {{ text }} is null then {{ text }}
        else list_reduce(
            {{ private_values }},
            lambda shown, each: {
                'length': 0,
                'value': replace(shown['value'], each['value'], each['masked']),
                'masked': ''
            },
            { 'length': 0, 'value': {{ text }}, 'masked': '' }
        )['value']
    end
{% endmacro %}

{# Words and numbers of a text, and pairs like "Bern instead of Basel", without those that a private value holds. #}
{% macro mask_words(words, private_values) %}
    case
        when {{ private_values }} is null then {{ words }}
        else list_transform(
            {{ words }},
            lambda word: case
                when
                    len(
                        list_filter(
                            {{ private_values }},
                            lambda each: len(
                                list_filter(
                                    string_split(lower(word), ' instead of '),
                                    lambda part: contains(lower(each['value']), part)
                                )
                            ) > 0
                        )
                    ) > 0
                    then '[masked]'
                else word
            end
        )
    end
{% endmacro %}

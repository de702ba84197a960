select
    answers.answer_pair_id, answers.parent_query_id, answers.pair_id, answers.first_interaction_id,
    answers.comparison, answers.dimension, answers.system, compared.similarity
from {{ ref('hcat', 'int_counterfactual_answers') }} as answers
inner join {{ ref('hcat', 'int_counterfactual_answers_compared') }} as compared
    on answers.answer_pair_id = compared.answer_pair_id and answers.input_key = compared.input_key

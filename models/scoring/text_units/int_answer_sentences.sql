-- A join on these rows costs what the answer is long. A look into its list would copy the list for each sentence.
select
    interaction_passages.interaction_id,
    passages_split.sentence_index,
    passages_split.text_id,
    passages_split.citations,
    passages_split.count_content_words
from {{ ref('hcat', 'int_interaction_passages') }} as interaction_passages
inner join {{ ref('hcat', 'int_passages_split') }} as passages_split
    on interaction_passages.passage_id = passages_split.passage_id
where interaction_passages.role = 'answer'

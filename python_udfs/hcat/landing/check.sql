-- Queries of `hcat check` over what staging makes of raw logs; names in braces are filled in by check.py.

-- query: count_records
select count(*) as count_landed, count(*) filter (where record_status = 'staged') as count_staged,
    count(*) filter (where record_status = 'repeated') as count_repeated,
    count(*) filter (where record_status = 'rejected') as count_rejected
from "base_{entity}"

-- query: list_rejected
-- a file that was rejected whole has row 0 and says its name itself
with found as (
    select 'rejected' as kind, reject_reason, source_file, source_row from "base_{entity}"
    where record_status = 'rejected'
    union all
    select 'field', unnest(list_append(field_faults, read_note)), source_file, source_row from "base_{entity}"
    where record_status = 'staged'
),
rejected as (
    -- as the macro reason_without_value has it: what follows is a text of the logs
    select kind, source_file, source_row,
        case when source_row = 0 then reject_reason else split_part(reject_reason, ': ', 1) end as reason
    from found where reject_reason is not null
),
numbered as (
    select *, count(*) over (partition by kind, reason) as count_records,
        row_number() over (partition by kind, reason order by source_file, source_row) as place
    from rejected
)
select kind, reason, any_value(count_records) as count_records, coalesce(array_agg(
        source_file || ' row ' || source_row order by place
    ) filter (where source_row > 0), []) as records
from numbered where place <= {shown} group by kind, reason

-- query: count_inputs
with interactions as (select * from base_interactions where record_status = 'staged'),
queries as (select * from base_queries where record_status = 'staged'),
graded as (
    select query_id from queries where len(source_chunk_ids) > 0
    union select query_id from landed_records where entity = 'relevance_judgements'
),
found as (
    select interaction_id, bool_or(chunk_id is not null) as has_ids from base_retrievals
    where record_status = 'staged' group by interaction_id
),
sampled as (
    select query_id, query_text, run_id from interactions group by all having count(*) > 1
)
select
    count(*) as interactions,
    count(*) filter (where coalesce(interactions.query_text, queries.query_text) is not null) as query,
    count(*) filter (where trim(coalesce(answer, '')) <> '') as answer,
    count(found.interaction_id) as context,
    count(queries.reference_answer) as reference,
    count(*) filter (
        where graded.query_id is not null and (found.has_ids or (found.has_ids is null and count_retrieved = 0))
    ) as relevance,
    count(*) filter (where sampled.query_id is not null or sampled.query_text is not null) as samples,
    count(asked_at) as asked_at,
    count(distinct application_version) as versions,
    count(distinct date_trunc('week', asked_at)) as weeks,
    count(conversation_id) as conversations,
    count(distinct lower(regexp_replace(trim(coalesce(interactions.query_text, queries.query_text)), '\s+', ' ', 'g')))
        as queries,
    count(queries.parent_query_id) as variants,
    (
        select count(*) from base_ratings
        where record_status = 'staged' and not is_corrected and rater_kind <> 'user_feedback'
    ) as ratings,
    (select count(*) from base_ratings where record_status = 'staged' and rater_kind = 'unknown') as ratings_of_unknown,
    -- what users pressed is shown beside them
    (select count(*) from base_ratings where record_status = 'staged') as ratings_and_feedback,
    (select count(*) from landed_records where entity = 'spans') as spans
from interactions
left join queries on interactions.query_id = queries.query_id
left join (select distinct query_id from graded) as graded on interactions.query_id = graded.query_id
left join found on interactions.interaction_id = found.interaction_id
left join sampled on interactions.query_id is not distinct from sampled.query_id
    and interactions.query_text is not distinct from sampled.query_text
    and interactions.run_id is not distinct from sampled.run_id

-- query: read_first
-- as it will land; a context without text takes that of its chunk
with first as (
    select * from base_interactions where record_status = 'staged' order by source_file, source_row, record_id limit 1
)
select
    coalesce(first.query_text, queries.query_text) as query,
    first.answer,
    coalesce(retrievals.text, chunks.chunk_text, retrievals.chunk_id) as context,
    first.asked_at as time
from first
left join base_queries as queries on first.query_id = queries.query_id and queries.record_status = 'staged'
left join base_retrievals as retrievals
    on first.interaction_id = retrievals.interaction_id and retrievals.record_status = 'staged'
left join base_chunks as chunks on retrievals.chunk_id = chunks.chunk_id and chunks.record_status = 'staged'
order by retrievals.rank limit 1

-- query: count_templates
with texts as (
    select interactions.interaction_id,
        regexp_replace(lower(trim(interactions.query_text)), '\s+', ' ', 'g') as query,
        regexp_replace(lower(trim(retrievals.text)), '\s+', ' ', 'g') as context
    from base_interactions as interactions
    inner join base_retrievals as retrievals on interactions.interaction_id = retrievals.interaction_id
    where interactions.record_status = 'staged' and retrievals.record_status = 'staged'
)
select count(distinct interaction_id) as count_queries from texts
where length(context) between {shortest} and length(query) - 1 and contains(query, context)

-- query: count_guesses
-- what a trace does not say of itself was found by what it is
select
    count(*) filter (where entity = 'interactions' and kind = 'general' and read_error is null) as count_guessed,
    count(distinct interaction_id) filter (where entity = 'retrievals' and kind = 'tool') as count_tools,
    count(distinct interaction_id) filter (where entity = 'retrievals' and kind = 'root') as count_given
from base_folded_traces

-- query: list_unread_keys
-- texts of traces that give no retrieval or no interaction, without those that were read
with traces as (
    select trace_id, any_value(query_text) as query, any_value(answer) as answer, any_value(read_error) as read_error
    from base_folded_traces where entity = 'interactions'
    and trace_id not in (select trace_id from base_folded_traces where entity = 'retrievals') group by trace_id
),
attributes as (
    select trace_id, unnest(map_entries(try_cast(try_cast(attributes as json) as map(varchar, varchar))), recursive := true)
    from landed_records where entity = 'spans' and trace_id in (select trace_id from traces)
),
texts as (
    select regexp_replace(key, '[.][0-9]+', '.*', 'g') as name, attributes.trace_id from attributes
    inner join traces on attributes.trace_id = traces.trace_id
    where length(value) >= {shortest} and contains(trim(value), ' ') and left(trim(value), 1) not in ('{{', '[')
        and not contains(concat(query, ' ', answer), trim(value, ' "')) and not contains(value, coalesce(query, chr(0)))
)
select name, count(distinct trace_id) as count_traces from texts group by name order by 2 desc, 1 limit {shown}

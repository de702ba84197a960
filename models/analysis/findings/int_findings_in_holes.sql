-- Another cell explains a finding if it accounts for enough of what fails there beyond the rest: overlap * (worse by
-- there) / (worse by here).
{%- set least_explained = 0.5 %}
{%- set here, there = [
    "instr(pieces.cells, ',' || findings.cell_key::string || ',') > 0",
    "instr(pieces.cells, ',' || others.cell_key::string || ',') > 0"
] %}
{%- set sides = {
    'own': here, 'other': there, 'both': here ~ ' and ' ~ there, 'rest': 'not (' ~ here ~ ' or ' ~ there ~ ')'
} %}

with weak as (
    select cell_id, metric_name, measurement, second_dimension
    from {{ ref('hcat', 'int_findings_seen') }}
    qualify row_number() over (partition by cell_id order by build_number desc) = 1 and retest_result = 'weak'
),

-- the smallest cell first; of the same answers the verdict, and the cell with the plainer name
findings as (
    select
        weak.*, described.cell_key,
        row_number() over (
            order by
                described.count_interactions,
                weak.second_dimension is not null,
                instr(coalesce(weak.second_dimension, ''), ' x '),
                weak.metric_name <> 'verdict',
                weak.cell_id
        ) as place
    from weak
    inner join {{ ref('hcat', 'int_metric_cells') }} as described on weak.cell_id = described.cell_id
),

measured as (
    select distinct findings.metric_name, findings.measurement, catalog.direction
    from findings
    inner join {{ ref('hcat', 'int_metric_catalog') }} as catalog on findings.metric_name = catalog.metric_name
),

placed as (
    select
        members.interaction_id,
        ',' || {{ joined_text('members.cell_key::string', "','", 'members.cell_key') }} || ',' as cells
    from {{ ref('hcat', 'int_interaction_cells') }} as members
    where members.cell_key in (select findings.cell_key from findings)
    group by members.interaction_id
),

-- interactions of the same cells are one piece; a higher value is worse
pieces as (
    select
        measured.metric_name,
        coalesce(placed.cells, '') as cells,
        count(*) as count_rows,
        {{ exact_sum(
            "case measured.measurement when 'share_failing' then evaluations.is_failing::integer"
            ~ " when 'share_failing_of_all' then evaluations.is_failing_of_all::integer"
            ~ " else evaluations.raw_score * if(measured.direction = 'higher_is_better', -1, 1) end"
        ) }} as sum_values
    from {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
    inner join measured on evaluations.metric_name = measured.metric_name
    left join placed on evaluations.interaction_id = placed.interaction_id
    where
        evaluations.is_in_release_population
        and case measured.measurement
            when 'share_failing' then evaluations.is_failing is not null
            when 'share_failing_of_all' then evaluations.is_failing_of_all is not null
            else evaluations.raw_score is not null
        end
    group by measured.metric_name, placed.cells
),

compared as (
    select
        {%- for side, condition in sides.items() %}
        sum(if({{ condition }}, pieces.count_rows, null)) as count_{{ side }},
        sum(if({{ condition }}, pieces.sum_values, null)) as sum_{{ side }},
        {%- endfor %}
        findings.cell_id, findings.place, others.cell_id as other_id, others.place as other_place
    from findings
    inner join findings as others on findings.cell_id <> others.cell_id
    inner join pieces on findings.metric_name = pieces.metric_name
    group by findings.cell_id, findings.place, others.cell_id, others.place
),

explained as (
    select * from compared
    where
        count_both / count_own * (sum_other / count_other - sum_rest / count_rest)
        >= {{ least_explained }} * (sum_own / count_own - sum_rest / count_rest)
),

-- of two that explain each other the smaller leads
led as (
    select distinct explained.cell_id
    from explained
    left join explained as back on explained.cell_id = back.other_id and explained.other_id = back.cell_id
    where back.cell_id is null or explained.other_place < explained.place
),

leaders as (
    select explained.cell_id, min_by(explained.other_id, explained.other_place) as leading_id
    from explained
    left join led on explained.other_id = led.cell_id
    where led.cell_id is null
    group by explained.cell_id
),

final as (
    select findings.cell_id, coalesce(leaders.leading_id, findings.cell_id) as leading_id
    from findings
    left join led on findings.cell_id = led.cell_id
    left join leaders on led.cell_id = leaders.cell_id
)

select * from final

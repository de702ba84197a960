-- One row per finding that is weak in this build, with the finding that leads its hole. Another cell explains a finding
-- if it accounts for enough of what fails there beyond the rest: overlap * (worse by there) / (worse by here).
{%- set least_explained = 0.5 %}

with weak as (
    select cell_id, metric_name, measurement, second_dimension
    from {{ ref('hcat', 'int_findings_seen') }}
    qualify
        row_number() over (partition by cell_id order by build_number desc) = 1 and retest_result = 'weak'
),

-- the smallest cell first; of the same answers the verdict, and the cell with the plainer name
findings as (
    select
        weak.*,
        described.cell_key,
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

members as (
    select interaction_id, cell_key
    from {{ ref('hcat', 'int_interaction_cells') }}
    where cell_key in (select findings.cell_key from findings)
),

placed as (
    select interaction_id, {{ joined_text('cell_key::string', "','", 'cell_key') }} as cells
    from members
    group by interaction_id
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

held as (
    select distinct placed.cells, members.cell_key
    from placed
    inner join members on placed.interaction_id = members.interaction_id
),

wholes as (
    select metric_name, sum(count_rows) as count_rows, sum(sum_values) as sum_values
    from pieces
    group by metric_name
),

crossings as (
    select
        pieces.metric_name,
        held.cell_key,
        others.cell_key as other_key,
        sum(pieces.count_rows) as count_rows,
        sum(pieces.sum_values) as sum_values
    from pieces
    inner join held on pieces.cells = held.cells
    inner join held as others on pieces.cells = others.cells
    group by pieces.metric_name, held.cell_key, others.cell_key
),

compared as (
    select
        findings.cell_id,
        findings.place,
        others.cell_id as other_id,
        others.place as other_place,
        crossings.count_rows / own.count_rows as share_overlapping,
        own.sum_values / own.count_rows as own_value,
        other.sum_values / other.count_rows as other_value,
        (wholes.sum_values - own.sum_values - other.sum_values + crossings.sum_values)
        / nullif(wholes.count_rows - own.count_rows - other.count_rows + crossings.count_rows, 0) as rest_value
    from findings
    inner join crossings on findings.metric_name = crossings.metric_name and findings.cell_key = crossings.cell_key
    inner join findings as others on crossings.other_key = others.cell_key
    inner join crossings as own
        on
            crossings.metric_name = own.metric_name
            and crossings.cell_key = own.cell_key
            and crossings.cell_key = own.other_key
    inner join crossings as other
        on
            crossings.metric_name = other.metric_name
            and crossings.other_key = other.cell_key
            and crossings.other_key = other.other_key
    inner join wholes on crossings.metric_name = wholes.metric_name
),

explained as (
    select * from compared
    where
        cell_id <> other_id
        and share_overlapping * (other_value - rest_value) >= {{ least_explained }} * (own_value - rest_value)
),

-- of two that explain each other the smaller leads
led as (
    select distinct explained.cell_id
    from explained
    left join explained as back on explained.cell_id = back.other_id and explained.other_id = back.cell_id
    where back.cell_id is null or explained.other_place < explained.place
),

leaders as (
    select cell_id, min_by(other_id, other_place) as leading_id
    from explained
    where other_id not in (select led.cell_id from led)
    group by cell_id
),

final as (
    select
        findings.cell_id,
        case when led.cell_id is not null then leaders.leading_id else findings.cell_id end as leading_id
    from findings
    left join led on findings.cell_id = led.cell_id
    left join leaders on findings.cell_id = leaders.cell_id
)

select cell_id, coalesce(leading_id, cell_id) as leading_id from final

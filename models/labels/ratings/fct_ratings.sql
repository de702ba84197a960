-- Also a rating that gives no label is kept: a second pass, one of a kind that another outranks, or of a chosen answer.
with scale_points as (
    select criterion, scale_point, min(scale_label) as scale_label from {{ seed('rating_scales') }}
    group by criterion, scale_point
)

select {{ columns_of_contract({
    'rating_id': "md5(concat_ws('|', ratings.interaction_id, ratings.rater, ratings.criterion,"
        ~ " coalesce(ratings.guideline_version, ''), ratings.rating_pass, if(ratings.is_chosen, 'chosen', null)))",
    'cluster_id': 'interactions.cluster_id',
    'system': 'interactions.system',
    'scale_label': "if(ratings.criterion = 'user_feedback', "
        ~ array_at(array_of(["'negative'", "'neutral'", "'positive'"]), 'ratings.scale_point::integer + 1')
        ~ ", scale_points.scale_label)",
    'label_rater_kind': 'labels.rater_kind',
    'scale_point': 'ratings.scale_point::integer',
    'accept_from': 'labels.accept_from::integer',
    'rating_pass': 'ratings.rating_pass::integer',
    'correction': 'ratings.correction::integer',
    'first_scale_point': "case when ratings.correction > 0 then ratings.first_scale_point end",
    'human_label': 'labels.label',
    'count_raters': 'labels.count_raters',
    'mean_scale_point': 'labels.mean_scale_point',
    'reason_start': 'ratings.reason_start::integer',
    'reason_end': 'ratings.reason_end::integer',
    'is_accepting': 'ratings.scale_point >= labels.accept_from',
}, of='ratings') }}
from {{ ref('hcat', 'stg_ratings') }} as ratings
inner join {{ ref('hcat', 'int_interactions') }} as interactions
    on ratings.interaction_id = interactions.interaction_id
left join {{ ref('hcat', 'int_ratings_adjudicated') }} as labels
    on ratings.interaction_id = labels.interaction_id and ratings.criterion = labels.criterion
left join scale_points
    on ratings.criterion = scale_points.criterion and ratings.scale_point = scale_points.scale_point

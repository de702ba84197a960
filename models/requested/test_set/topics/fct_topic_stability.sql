with fits as (
    select
        fit_id,
        fit_number,
        count_topics,
        silhouette,
        {{ json_field('settings', "'method'") }} as method,
        {{ json_field('settings', "'reduction'") }} as reduction,
        sum(count_fitted)::bigint as count_texts,
        sum(case when topic_id = 'noise' then count_fitted else 0 end)::bigint as count_noise,
        count(similarity_to_previous)::bigint as count_kept
    from {{ ref('hcat', 'int_topics_fitted') }}
    group by fit_id, fit_number, count_topics, silhouette, settings
),

compared as (
    select
        fit_id,
        variation,
        count(*) as count_pairs,
        avg(adjusted_rand) as mean_adjusted_rand,
        min(adjusted_rand) as minimum_adjusted_rand
    from {{ ref('hcat', 'int_topics_measured') }}
    group by fit_id, variation
)

select {{ columns_of_contract({
    'topic_stability_id': "md5(compared.fit_id || '|' || compared.variation)",
    'method': 'fits.method',
    'reduction': 'fits.reduction',
    'fit_number': 'fits.fit_number',
    'count_topics': 'fits.count_topics',
    'count_texts': 'fits.count_texts',
    'count_noise': 'fits.count_noise',
    'count_kept': 'fits.count_kept',
    'silhouette': 'fits.silhouette',
    'is_current': 'fits.fit_number = max(fits.fit_number) over ()',
}, of='compared') }}
from compared
inner join fits on compared.fit_id = fits.fit_id

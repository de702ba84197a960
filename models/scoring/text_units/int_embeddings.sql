-- One row per distinct text embedded by the encoder of this build.
{{ config(materialized='view') }}
{{ current_rows(ref('hcat', 'int_texts_embedded'), ref('hcat', 'int_encoder'), 'encoder_key') }}

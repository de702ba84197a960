-- One row per distinct text embedded by the encoder of this build.
{{ current_rows(ref('int_texts_embedded'), ref('int_encoder'), 'encoder_key') }}

-- One row per (type, value) of personal data that a document or chunk of the knowledge base holds.
{{ public_values(ref('hcat', 'int_texts_recognisable'), ref('hcat', 'int_texts_recognised')) }}

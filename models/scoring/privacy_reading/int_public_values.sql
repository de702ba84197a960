{{ public_values(ref('hcat', 'int_texts_recognisable'), ref('hcat', 'int_texts_recognised')) }}

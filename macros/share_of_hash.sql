{#
    A number in [0, 1) from the MD5 of a text. It is the same in every build, and in Python it is the same in
    hcat.calibration.calibrators.fold_of_cluster. The first 13 hexadecimal digits are 52 bits, which a double holds exactly.
#}
{% macro share_of_hash(text) %}
    ({{ number_of_hex('substr(md5(' ~ text ~ '), 1, 13)') }} / 4503599627370496)
{%- endmacro %}

select {{ columns_of_contract() }} from {{ ref('hcat', 'int_version_cells_shown') }}

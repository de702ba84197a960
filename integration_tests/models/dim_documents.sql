select 'dim_documents of the bank' as name

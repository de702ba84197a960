select 'risks of the bank' as name

"""How do logs come from a warehouse, and results go back to it?"""

"""Recipes that make the weights shipped with hcat; nothing of the package imports them."""

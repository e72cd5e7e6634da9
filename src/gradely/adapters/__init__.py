"""Gradely inside other tools, with one thin module per tool.

Import a module by its name, such as `gradely.adapters.ir_measures`. Modules whose classes derive from classes of the
tool import it at the top and say what to install if it is missing; the others import it when it is used.
"""

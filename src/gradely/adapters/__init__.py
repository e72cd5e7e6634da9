"""Gradely inside the tools that people already use: one thin module each.

A module is imported by name, `gradely.adapters.ir_measures`, and imports its tool only when it is used. Where the tool
is absent, the error names the extra of gradely that brings it.
"""

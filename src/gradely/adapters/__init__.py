"""Gradely inside the tools that people already use: one thin module each.

A module is imported by name, `gradely.adapters.ir_measures`. One whose classes derive from those of its tool imports
the tool, and says what to install where it is absent; the others need no import before they are used.
"""

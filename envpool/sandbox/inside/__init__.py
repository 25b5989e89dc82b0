"""What runs in the zygote and in its confined children, and nowhere else.

Only here is the source of a program parsed, compiled or executed.
"""

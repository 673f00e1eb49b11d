# This machine, unchanged.

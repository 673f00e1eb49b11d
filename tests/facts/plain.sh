# This machine as it is.

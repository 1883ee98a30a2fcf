"""Replies: the values that an answer states, the open point that a question names, and what is denied."""

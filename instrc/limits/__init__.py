"""How far everything goes, a file for each part: each limit with what happens beyond it."""

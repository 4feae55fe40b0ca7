"""A bot for noughts and crosses: win, block, or take the best free space."""

LINES = (
    [[(row, column) for column in range(3)] for row in range(3)]
    + [[(row, column) for row in range(3)] for column in range(3)]
    + [[(0, 0), (1, 1), (2, 2)], [(0, 2), (1, 1), (2, 0)]]
)
BY_WORTH = [(1, 1), (0, 0), (0, 2), (2, 0), (2, 2), (0, 1), (1, 0), (1, 2), (2, 1)]


def bot(view):
    mine = view["marks"][view["you"]]
    theirs = view["marks"][1 - view["you"]]
    board = view["board"]
    free = [space for space in BY_WORTH if not board[space[0]][space[1]]]
    space = completing(board, mine) or completing(board, theirs) or free[0]
    return {"mark": mine, "space": list(space)}


def completing(board, mark):
    """The free space of a line in which the two others have this mark."""
    for line in LINES:
        marks = [board[row][column] for row, column in line]
        if marks.count(mark) == 2 and marks.count("") == 1:
            return line[marks.index("")]
    return None

"""A bot for gomoku: the cell that adds most to its own rows and takes most from the other's."""

DIRECTIONS = [(1, 0), (0, 1), (1, 1), (1, -1)]


def bot(view):
    board, size = view["board"], view["size"]
    mine = "XO"[view["you"]]
    theirs = "OX"[view["you"]]
    best, best_worth = None, -1
    for y in range(size):
        for x in range(size):
            if board[y][x] != ".":
                continue
            worth = 3 * worth_of(board, x, y, mine) + 2 * worth_of(board, x, y, theirs)
            worth += size - abs(2 * x + 1 - size) // 2 - abs(2 * y + 1 - size) // 2
            if worth > best_worth:
                best, best_worth = {"x": x, "y": y}, worth
    return best


def worth_of(board, x, y, mark):
    """The longer the rows through this cell would be, and the more open, the better."""
    total = 0
    for dx, dy in DIRECTIONS:
        ahead, open_ahead = run(board, x, y, dx, dy, mark)
        behind, open_behind = run(board, x, y, -dx, -dy, mark)
        if ahead + behind + 1 >= 5 or open_ahead + open_behind:
            total += 10 ** min(ahead + behind + 1, 5) * (1 + open_ahead + open_behind)
    return total


def run(board, x, y, dx, dy, mark):
    """The stones of this mark in a row from here, and whether the cell after them is free."""
    size, stones = len(board), 0
    while True:
        x, y = x + dx, y + dy
        if not (0 <= x < size and 0 <= y < size):
            return stones, 0
        if board[y][x] != mark:
            return stones, int(board[y][x] == ".")
        stones += 1

"""A bot for battleship: shoot beside hits, otherwise at every other square."""

import random


def bot(view):
    return place(view) if view["phase"] == "placement" else shoot(view)


def place(view):
    """Put each boat on free squares at random.

    Botdrome seeds `random`: the same match gives the same fleet.
    """
    width, height = view["width"], view["height"]
    board = [["."] * width for _ in range(height)]
    for boat in view["boats"]:
        letter, length = boat[0], int(boat[1:])
        squares = []
        while not squares or any(board[y][x] != "." for x, y in squares):
            across = random.randrange(2)
            down = 1 - across
            x = random.randrange(width - across * (length - 1))
            y = random.randrange(height - down * (length - 1))
            squares = [(x + across * step, y + down * step) for step in range(length)]
        for x, y in squares:
            board[y][x] = letter
    return {"board": ["".join(row) for row in board]}


def shoot(view):
    best, best_worth = {"skip": True}, 0
    for target, board in enumerate(view["boards"]):
        if target == view["you"]:
            continue
        for y in range(view["height"]):
            for x in range(view["width"]):
                worth = worth_of(board, x, y) + random.random()
                if board[y][x] == "." and worth > best_worth:
                    best, best_worth = {"target": target, "x": x, "y": y}, worth
    return best


def worth_of(board, x, y):
    """Squares that continue a row of hits come first, then squares beside a hit, then every other
    square.
    """
    worth = 1 + (x + y) % 2
    for dx, dy in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
        if hit(board, x + dx, y + dy):
            worth += 20 if hit(board, x + 2 * dx, y + 2 * dy) else 5
    return worth


def hit(board, x, y):
    return 0 <= y < len(board) and 0 <= x < len(board[y]) and board[y][x] == "X"

import java.util.Map;

/** The cell that adds most to its own rows and takes most from the other's. */
public class Strategy {
    private static final int[][] DIRECTIONS = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};

    /** The stones of one mark in a row, and whether the cell after them is free. */
    private record Run(int stones, int open) {}

    public static Json choose(Json view, long seed) {
        String[] board = view.get("board").list().stream().map(Json::string).toArray(String[]::new);
        int size = board.length;
        boolean crosses = view.get("you").number() == 0;
        Json best = null;
        long bestWorth = -1;
        for (int y = 0; y < size; y++) {
            for (int x = 0; x < size; x++) {
                if (board[y].charAt(x) != '.') {
                    continue;
                }
                long worth = 3 * worthOf(board, x, y, crosses ? 'X' : 'O') + 2 * worthOf(board, x, y, crosses ? 'O' : 'X');
                worth += size - (Math.abs(2 * x + 1 - size) + Math.abs(2 * y + 1 - size)) / 2;
                if (worth > bestWorth) {
                    best = Json.of(Map.of("x", x, "y", y));
                    bestWorth = worth;
                }
            }
        }
        return best;
    }

    /** The longer the rows through this cell would be, and the more open, the better. */
    private static long worthOf(String[] board, int x, int y, char mark) {
        long total = 0;
        for (int[] step : DIRECTIONS) {
            Run ahead = run(board, x, y, step[0], step[1], mark);
            Run behind = run(board, x, y, -step[0], -step[1], mark);
            int length = Math.min(ahead.stones + behind.stones + 1, 5);
            int open = ahead.open + behind.open;
            if (length == 5 || open > 0) {
                total += Math.round(Math.pow(10, length)) * (1 + open);
            }
        }
        return total;
    }

    private static Run run(String[] board, int x, int y, int dx, int dy, char mark) {
        int stones = 0;
        while (cell(board, x + dx * (stones + 1), y + dy * (stones + 1)) == mark) {
            stones++;
        }
        return new Run(stones, cell(board, x + dx * (stones + 1), y + dy * (stones + 1)) == '.' ? 1 : 0);
    }

    private static char cell(String[] board, int x, int y) {
        return x >= 0 && x < board.length && y >= 0 && y < board.length ? board[y].charAt(x) : '#';
    }
}

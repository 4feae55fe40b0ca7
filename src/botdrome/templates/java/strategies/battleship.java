import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Shoot beside hits, otherwise at every other square. */
public class Strategy {
    private static final int[][] SIDES = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};

    public static Json choose(Json view, long seed) {
        Random random = new Random(seed + view.get("turns").get(view.get("you").number()).number());
        return view.get("phase").string().equals("placement") ? place(view, random) : shoot(view, random);
    }

    /** Put each boat on free squares at random. */
    private static Json place(Json view, Random random) {
        char[][] board = new char[view.get("height").number()][view.get("width").number()];
        for (char[] row : board) {
            Arrays.fill(row, '.');
        }
        for (Json boat : view.get("boats").list()) {
            int length = Integer.parseInt(boat.string().substring(1));
            while (!put(board, boat.string().charAt(0), length, random)) {}
        }
        List<String> rows = new ArrayList<>();
        for (char[] row : board) {
            rows.add(new String(row));
        }
        return Json.of(Map.of("board", rows));
    }

    /** Tries one place; false if the boat does not fit there. */
    private static boolean put(char[][] board, char letter, int length, Random random) {
        int y = random.nextInt(board.length);
        int x = random.nextInt(board[0].length);
        int across = random.nextInt(2);
        for (int step = 0; step < length; step++) {
            if (at(board, x + across * step, y + (1 - across) * step) != '.') {
                return false;
            }
        }
        for (int step = 0; step < length; step++) {
            board[y + (1 - across) * step][x + across * step] = letter;
        }
        return true;
    }

    private static char at(char[][] board, int x, int y) {
        return y >= 0 && y < board.length && x >= 0 && x < board[y].length ? board[y][x] : '#';
    }

    private static Json shoot(Json view, Random random) {
        Json best = Json.of(Map.of("skip", true));
        int bestWorth = 0;
        for (int target = 0; target < view.get("boards").list().size(); target++) {
            if (target == view.get("you").number()) {
                continue;
            }
            char[][] board = view.get("boards").get(target).list().stream().map(row -> row.string().toCharArray()).toArray(char[][]::new);
            for (int y = 0; y < board.length; y++) {
                for (int x = 0; x < board[y].length; x++) {
                    int worth = 100 * worthOf(board, x, y) + random.nextInt(100);
                    if (board[y][x] == '.' && worth > bestWorth) {
                        best = Json.of(Map.of("target", target, "x", x, "y", y));
                        bestWorth = worth;
                    }
                }
            }
        }
        return best;
    }

    /** Squares that continue a row of hits come first, then squares beside a hit, then every other square. */
    private static int worthOf(char[][] board, int x, int y) {
        int worth = 1 + (x + y) % 2;
        for (int[] side : SIDES) {
            if (at(board, x + side[0], y + side[1]) == 'X') {
                worth += at(board, x + 2 * side[0], y + 2 * side[1]) == 'X' ? 20 : 5;
            }
        }
        return worth;
    }
}

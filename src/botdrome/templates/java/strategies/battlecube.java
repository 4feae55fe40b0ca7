import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Bomb a rival that stood still, otherwise step to the safest cell. */
public class Strategy {
    private record Cell(int x, int y, int z) {
        static Cell of(Json player) {
            return new Cell(player.get("x").number(), player.get("y").number(), player.get("z").number());
        }

        Cell plus(Cell step) {
            return new Cell(x + step.x, y + step.y, z + step.z);
        }

        int distance(Cell other) {
            return Math.abs(x - other.x) + Math.abs(y - other.y) + Math.abs(z - other.z);
        }
    }

    private static final Map<String, Cell> STEPS = new LinkedHashMap<>();

    static {
        STEPS.put("+X", new Cell(1, 0, 0));
        STEPS.put("-X", new Cell(-1, 0, 0));
        STEPS.put("+Y", new Cell(0, 1, 0));
        STEPS.put("-Y", new Cell(0, -1, 0));
        STEPS.put("+Z", new Cell(0, 0, 1));
        STEPS.put("-Z", new Cell(0, 0, -1));
    }

    public static Json choose(Json view, long seed) {
        Set<Integer> still = new HashSet<>();
        for (Json entry : view.get("happened").list()) {
            if (entry.has("did") && !entry.get("did").string().equals("move")) {
                still.add(entry.get("seat").number());
            }
        }
        Cell own = null;
        List<Cell> rivals = new ArrayList<>();
        List<Cell> targets = new ArrayList<>();
        for (Json player : view.get("players").list()) {
            int seat = player.get("seat").number();
            if (seat == view.get("you").number()) {
                own = Cell.of(player);
            } else {
                rivals.add(Cell.of(player));
                if (still.contains(seat)) {
                    targets.add(Cell.of(player));
                }
            }
        }
        List<Object> plan = new ArrayList<>(Collections.nCopies(view.get("tasks").number(), Map.of("task", "NOOP")));
        plan.set(0, first(view, own, rivals, targets));
        return Json.of(plan);
    }

    private static Object first(Json view, Cell own, List<Cell> rivals, List<Cell> targets) {
        if (!targets.isEmpty() && rivals.stream().allMatch(rival -> own.distance(rival) > 1)) {
            Cell near = Collections.min(targets, Comparator.comparingInt(own::distance));
            return Map.of("task", "BOMB", "x", near.x, "y", near.y, "z", near.z);
        }
        String best = Collections.max(STEPS.keySet(), Comparator.comparingInt(step -> safety(view, own.plus(STEPS.get(step)), rivals)));
        return Map.of("task", "MOVE", "direction", best);
    }

    /** Bombs and the outside are deadly; a cell that a rival can reach is dangerous; the middle is better than the edge. */
    private static int safety(Json view, Cell cell, List<Cell> rivals) {
        int edge = view.get("edge").number();
        int worth = 0;
        for (int place : new int[] {cell.x, cell.y, cell.z}) {
            if (place < 0 || place >= edge) {
                return -10000;
            }
            worth -= Math.abs(2 * place - edge + 1);
        }
        for (Json bomb : view.get("bombs").list()) {
            if (cell.equals(new Cell(bomb.get(0).number(), bomb.get(1).number(), bomb.get(2).number()))) {
                worth -= 5000;
            }
        }
        return worth - 1000 * (int) rivals.stream().filter(rival -> cell.distance(rival) <= 1).count();
    }
}

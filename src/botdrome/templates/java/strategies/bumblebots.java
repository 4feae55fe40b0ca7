import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Each drone flies to the nearest flower that no other drone of the bot wants. */
public class Strategy {
    private static final int FLOWER = 2;

    private record Hex(int row, int column) {
        static Hex of(Json drone) {
            return new Hex(drone.get("position").get(0).number(), drone.get("position").get(1).number());
        }
    }

    /** A hex, the first direction of the way to it, and the hex to which that leads. */
    private record Way(Hex hex, String direction, Hex first) {}

    private static final Map<String, Hex> STEPS = new LinkedHashMap<>();

    static {
        STEPS.put("UL", new Hex(-1, -1));
        STEPS.put("UR", new Hex(-1, 0));
        STEPS.put("R", new Hex(0, 1));
        STEPS.put("DR", new Hex(1, 1));
        STEPS.put("DL", new Hex(1, 0));
        STEPS.put("L", new Hex(0, -1));
    }

    public static Json choose(Json view, long seed) {
        Set<Hex> occupied = new HashSet<>();
        for (Json swarm : view.get("drones").list()) {
            swarm.map().values().forEach(drone -> occupied.add(Hex.of(drone)));
        }
        Set<Hex> sought = new HashSet<>();
        Map<String, String> orders = new TreeMap<>();
        for (Map.Entry<String, Json> drone : view.get("drones").get(view.get("you").number()).map().entrySet()) {
            Way way = wayToFlower(view, Hex.of(drone.getValue()), occupied, sought);
            if (way != null) {
                orders.put(drone.getKey(), way.direction);
                occupied.add(way.first);
                sought.add(way.hex);
            }
        }
        return Json.of(Map.of("orders", orders));
    }

    /** The shortest way to a flower; null if there is none. */
    private static Way wayToFlower(Json view, Hex start, Set<Hex> occupied, Set<Hex> sought) {
        Set<Hex> closed = new HashSet<>(occupied);
        List<Way> queue = new ArrayList<>(List.of(new Way(start, null, null)));
        for (int at = 0; at < queue.size(); at++) {
            Way way = queue.get(at);
            if (way.first != null && kindOf(view, way.hex) == FLOWER && !sought.contains(way.hex)) {
                return way;
            }
            for (Map.Entry<String, Hex> step : STEPS.entrySet()) {
                Hex beside = new Hex(way.hex.row + step.getValue().row, way.hex.column + step.getValue().column);
                if (isOpen(view, beside) && closed.add(beside)) {
                    queue.add(way.first == null ? new Way(beside, step.getKey(), beside) : new Way(beside, way.direction, way.first));
                }
            }
        }
        return null;
    }

    private static int kindOf(Json view, Hex hex) {
        Json kind = view.get("board").get(hex.row).get(hex.column);
        return kind.isNull() ? -1 : kind.number();
    }

    private static boolean isOpen(Json view, Hex hex) {
        int kind = kindOf(view, hex);
        return kind == 0 || kind == FLOWER || kind == view.get("territory").get(view.get("you").number()).number();
    }
}

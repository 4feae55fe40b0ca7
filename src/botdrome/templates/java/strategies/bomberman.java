import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Leave the reach of bombs, bomb crates and rivals if there is a way out, take upgrades. */
public class Strategy {
    private record Tile(int row, int column) {
        static Tile of(Json place) {
            return new Tile(place.get(0).number(), place.get(1).number());
        }

        Tile plus(Tile step, int times) {
            return new Tile(row + step.row * times, column + step.column * times);
        }
    }

    private record Place(Tile tile, String first, int steps) {}

    private static final Map<String, Tile> STEPS = new LinkedHashMap<>();

    static {
        STEPS.put("MOVE_UP", new Tile(-1, 0));
        STEPS.put("MOVE_DOWN", new Tile(1, 0));
        STEPS.put("MOVE_LEFT", new Tile(0, -1));
        STEPS.put("MOVE_RIGHT", new Tile(0, 1));
    }

    public static Json choose(Json view, long seed) {
        String action = action(view);
        return Json.of(Map.of("action", action == null ? "WAIT" : action));
    }

    private static String action(Json view) {
        Json me = view.get("users").get(view.get("you").number());
        Tile own = Tile.of(me.get("at"));
        int reach = me.get("range").number();
        Set<Tile> danger = inDanger(view);
        if (danger.contains(own)) {
            return firstStep(view, own, tile -> !danger.contains(tile), Set.of(), 1000);
        }
        if (me.get("bombsLeft").number() > 0 && isTarget(view, own, reach)) {
            Set<Tile> worse = burned(view, own, reach);
            worse.addAll(danger);
            if (firstStep(view, own, tile -> !worse.contains(tile), Set.of(), view.get("fuse").number()) != null) {
                return "PLACE_BOMB";
            }
        }
        Set<Tile> upgrades = new HashSet<>();
        view.get("upgrades").list().forEach(upgrade -> upgrades.add(Tile.of(upgrade.get("at"))));
        return firstStep(view, own, tile -> upgrades.contains(tile) || isTarget(view, tile, reach), danger, 1000);
    }

    /** The tiles that burn when the bombs explode, and those that close soon. */
    private static Set<Tile> inDanger(Json view) {
        Set<Tile> tiles = new HashSet<>();
        for (Json bomb : view.get("bombs").list()) {
            tiles.addAll(burned(view, Tile.of(bomb.get("at")), bomb.get("range").number()));
        }
        Json closing = view.get("closing");
        if (!closing.get("at").isNull() && closing.get("at").number() - view.get("round").number() < 8) {
            closing.get("next").list().forEach(tile -> tiles.add(Tile.of(tile)));
        }
        return tiles;
    }

    private static Set<Tile> burned(Json view, Tile at, int reach) {
        Set<Tile> tiles = new HashSet<>(Set.of(at));
        for (Tile step : STEPS.values()) {
            for (int distance = 1; distance <= reach; distance++) {
                Tile tile = at.plus(step, distance);
                char kind = kindOf(view, tile);
                if (kind == '#') {
                    break;
                }
                tiles.add(tile);
                if (kind == '+' && !view.get("flamePierces").isTrue()) {
                    break;
                }
            }
        }
        return tiles;
    }

    private static char kindOf(Json view, Tile tile) {
        boolean inside = tile.row >= 0 && tile.row < view.get("height").number();
        inside = inside && tile.column >= 0 && tile.column < view.get("width").number();
        return inside ? view.get("tiles").get(tile.row).string().charAt(tile.column) : '#';
    }

    /** Whether a bomb here would burn a crate or a rival. */
    private static boolean isTarget(Json view, Tile at, int reach) {
        Set<Tile> tiles = burned(view, at, reach);
        for (Json user : view.get("users").list()) {
            boolean rival = user.get("alive").isTrue() && user.get("seat").number() != view.get("you").number();
            if (rival && tiles.contains(Tile.of(user.get("at")))) {
                return true;
            }
        }
        return tiles.stream().anyMatch(tile -> kindOf(view, tile) == '+');
    }

    /** The first step of the shortest way to a wanted tile; null if there is no way. */
    private static String firstStep(Json view, Tile own, Predicate<Tile> wanted, Set<Tile> avoided, int most) {
        Set<Tile> closed = new HashSet<>(avoided);
        view.get("bombs").list().forEach(bomb -> closed.add(Tile.of(bomb.get("at"))));
        view.get("users").list().stream().filter(user -> user.get("alive").isTrue()).forEach(user -> closed.add(Tile.of(user.get("at"))));
        List<Place> queue = new ArrayList<>(List.of(new Place(own, null, 0)));
        for (int at = 0; at < queue.size(); at++) {
            Place here = queue.get(at);
            if (here.first != null && wanted.test(here.tile)) {
                return here.first;
            }
            for (Map.Entry<String, Tile> step : STEPS.entrySet()) {
                Tile beside = here.tile.plus(step.getValue(), 1);
                if (here.steps < most && kindOf(view, beside) == '.' && closed.add(beside)) {
                    queue.add(new Place(beside, here.first == null ? step.getKey() : here.first, here.steps + 1));
                }
            }
        }
        return null;
    }
}

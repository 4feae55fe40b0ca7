// Each drone flies to the nearest flower that no other drone of the bot wants.
#include <set>

#include "strategy.hpp"

using Hex = std::pair<int, int>;

static const int FLOWER = 2;
static const std::vector<std::pair<std::string, Hex>> STEPS = {
    {"UL", {-1, -1}}, {"UR", {-1, 0}}, {"R", {0, 1}}, {"DR", {1, 1}}, {"DL", {1, 0}}, {"L", {0, -1}},
};

struct Way {
    Hex hex;
    std::string direction;
    Hex first;
};

static Hex position(const Json& drone) { return {drone["position"][0].number(), drone["position"][1].number()}; }

static bool is_open(const Json& view, Hex hex) {
    const Json& kind = view["board"][hex.first][hex.second];
    const int own = view["territory"][view["you"].number()].number();
    return !kind.is_null() && (kind.number() == 0 || kind.number() == FLOWER || kind.number() == own);
}

// The shortest way to a flower: the flower, the first direction, and the hex it leads to. Without a way, no direction.
static Way way_to_flower(const Json& view, Hex start, std::set<Hex> closed, const std::set<Hex>& sought) {
    std::vector<Way> queue = {{start, "", start}};
    for (size_t at = 0; at < queue.size(); at++) {
        const Way way = queue[at];
        const bool flower = view["board"][way.hex.first][way.hex.second].number() == FLOWER;
        if (flower && !way.direction.empty() && !sought.count(way.hex)) return way;
        for (const auto& [direction, step] : STEPS) {
            const Hex beside = {way.hex.first + step.first, way.hex.second + step.second};
            if (!is_open(view, beside) || !closed.insert(beside).second) continue;
            const bool started = !way.direction.empty();
            queue.push_back({beside, started ? way.direction : direction, started ? way.first : beside});
        }
    }
    return {start, "", start};
}

Json choose(const Json& view, long) {
    std::set<Hex> occupied, sought;
    for (const Json& swarm : view["drones"].list()) {
        for (const auto& [name, drone] : swarm.object()) occupied.insert(position(drone));
    }
    Json::Object orders;
    for (const auto& [name, drone] : view["drones"][view["you"].number()].object()) {
        const Way way = way_to_flower(view, position(drone), occupied, sought);
        if (way.direction.empty()) continue;
        orders[name] = way.direction;
        occupied.insert(way.first);
        sought.insert(way.hex);
    }
    return Json::Object{{"orders", orders}};
}

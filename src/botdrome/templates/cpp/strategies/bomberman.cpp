// Leave the reach of bombs, bomb crates and rivals if there is a way out, take upgrades.
#include <functional>
#include <set>

#include "strategy.hpp"

using Tile = std::pair<int, int>;
using Tiles = std::set<Tile>;

static const std::vector<std::pair<std::string, Tile>> STEPS = {
    {"MOVE_UP", {-1, 0}}, {"MOVE_DOWN", {1, 0}}, {"MOVE_LEFT", {0, -1}}, {"MOVE_RIGHT", {0, 1}},
};

static Tile tile_of(const Json& place) { return {place[0].number(), place[1].number()}; }

static char tile_at(const Json& view, Tile tile) {
    const Json& tiles = view["tiles"];
    const bool inside = tile.first >= 0 && tile.first < tiles.size() && tile.second >= 0 && tile.second < view["width"].number();
    return inside ? tiles[tile.first].string()[tile.second] : '#';
}

static Tiles burned(const Json& view, Tile at, int reach) {
    Tiles tiles = {at};
    for (const auto& [action, step] : STEPS) {
        for (int distance = 1; distance <= reach; distance++) {
            const Tile tile = {at.first + step.first * distance, at.second + step.second * distance};
            const char kind = tile_at(view, tile);
            if (kind == '#') break;
            tiles.insert(tile);
            if (kind == '+' && !view["flamePierces"].boolean()) break;
        }
    }
    return tiles;
}

// The tiles that burn when the bombs explode, and those that close soon.
static Tiles in_danger(const Json& view) {
    Tiles tiles;
    for (const Json& bomb : view["bombs"].list()) tiles.merge(burned(view, tile_of(bomb["at"]), bomb["range"].number()));
    const Json& closing = view["closing"];
    if (!closing["at"].is_null() && closing["at"].number() - view["round"].number() < 8) {
        for (const Json& tile : closing["next"].list()) tiles.insert(tile_of(tile));
    }
    return tiles;
}

// Whether a bomb here would burn a crate or a rival.
static bool is_target(const Json& view, Tile at, int reach) {
    const Tiles tiles = burned(view, at, reach);
    for (const Tile& tile : tiles) {
        if (tile_at(view, tile) == '+') return true;
    }
    for (const Json& user : view["users"].list()) {
        const bool rival = user["alive"].boolean() && user["seat"].number() != view["you"].number();
        if (rival && tiles.count(tile_of(user["at"]))) return true;
    }
    return false;
}

// The first step of the shortest way to a wanted tile; empty if there is no way.
static std::string first_step(const Json& view, Tile own, const std::function<bool(Tile)>& wanted, Tiles closed, int most) {
    struct Place {
        Tile tile;
        std::string first;
        int steps;
    };
    for (const Json& user : view["users"].list()) {
        if (user["alive"].boolean()) closed.insert(tile_of(user["at"]));
    }
    for (const Json& bomb : view["bombs"].list()) closed.insert(tile_of(bomb["at"]));
    std::vector<Place> queue = {{own, "", 0}};
    for (size_t at = 0; at < queue.size(); at++) {
        const Place here = queue[at];
        if (!here.first.empty() && wanted(here.tile)) return here.first;
        for (const auto& [action, step] : STEPS) {
            const Tile beside = {here.tile.first + step.first, here.tile.second + step.second};
            if (here.steps == most || tile_at(view, beside) != '.' || !closed.insert(beside).second) continue;
            queue.push_back({beside, here.first.empty() ? action : here.first, here.steps + 1});
        }
    }
    return "";
}

static std::string action(const Json& view) {
    const Json& me = view["users"][view["you"].number()];
    const Tile own = tile_of(me["at"]);
    const int reach = me["range"].number();
    const Tiles danger = in_danger(view);
    if (danger.count(own)) return first_step(view, own, [&](Tile tile) { return !danger.count(tile); }, {}, 1000);
    if (me["bombsLeft"].number() && is_target(view, own, reach)) {
        Tiles worse = burned(view, own, reach);
        worse.insert(danger.begin(), danger.end());
        const auto safe = [&](Tile tile) { return !worse.count(tile); };
        if (!first_step(view, own, safe, {}, view["fuse"].number()).empty()) return "PLACE_BOMB";
    }
    Tiles upgrades;
    for (const Json& upgrade : view["upgrades"].list()) upgrades.insert(tile_of(upgrade["at"]));
    const auto wanted = [&](Tile tile) { return upgrades.count(tile) || is_target(view, tile, reach); };
    return first_step(view, own, wanted, danger, 1000);
}

Json choose(const Json& view, long) {
    const std::string chosen = action(view);
    return Json::Object{{"action", chosen.empty() ? "WAIT" : chosen}};
}

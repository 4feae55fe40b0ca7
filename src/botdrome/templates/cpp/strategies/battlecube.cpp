// Bomb a rival that stood still, otherwise step to the safest cell.
#include <array>
#include <cstdlib>
#include <set>

#include "strategy.hpp"

using Cell = std::array<int, 3>;

static const std::vector<std::pair<std::string, Cell>> STEPS = {
    {"+X", {1, 0, 0}}, {"-X", {-1, 0, 0}}, {"+Y", {0, 1, 0}}, {"-Y", {0, -1, 0}}, {"+Z", {0, 0, 1}}, {"-Z", {0, 0, -1}},
};

static Cell cell_of(const Json& player) {
    return {int(player["x"].number()), int(player["y"].number()), int(player["z"].number())};
}

static int distance(const Cell& one, const Cell& other) {
    int sum = 0;
    for (int axis = 0; axis < 3; axis++) sum += std::abs(one[axis] - other[axis]);
    return sum;
}

// Bombs and the outside are deadly; a cell that a rival can reach is dangerous; the middle is better than the edge.
static int safety(const Json& view, const Cell& cell, const std::vector<Cell>& rivals) {
    const int edge = view["edge"].number();
    int worth = 0;
    for (const int place : cell) {
        if (place < 0 || place >= edge) return -10000;
        worth -= std::abs(2 * place - edge + 1);
    }
    for (const Json& bomb : view["bombs"].list()) {
        const Cell place = {int(bomb[0].number()), int(bomb[1].number()), int(bomb[2].number())};
        if (place == cell) worth -= 5000;
    }
    for (const Cell& rival : rivals) {
        if (distance(cell, rival) <= 1) worth -= 1000;
    }
    return worth;
}

static Json best_step(const Json& view, const Cell& own, const std::vector<Cell>& rivals) {
    std::string best;
    int best_worth = -100000;
    for (const auto& [direction, step] : STEPS) {
        const Cell cell = {own[0] + step[0], own[1] + step[1], own[2] + step[2]};
        const int worth = safety(view, cell, rivals);
        if (worth > best_worth) best = direction, best_worth = worth;
    }
    return Json::Object{{"task", "MOVE"}, {"direction", best}};
}

Json choose(const Json& view, long) {
    std::set<long> still;
    for (const Json& entry : view["happened"].list()) {
        if (entry.has("did") && entry["did"].string() != "move") still.insert(entry["seat"].number());
    }
    Cell own{};
    std::vector<Cell> rivals, targets;
    for (const Json& player : view["players"].list()) {
        if (player["seat"].number() == view["you"].number()) {
            own = cell_of(player);
            continue;
        }
        rivals.push_back(cell_of(player));
        if (still.count(player["seat"].number())) targets.push_back(cell_of(player));
    }
    bool safe = !targets.empty();
    for (const Cell& rival : rivals) safe = safe && distance(own, rival) > 1;
    Json::List plan(view["tasks"].number(), Json::Object{{"task", "NOOP"}});
    plan[0] = best_step(view, own, rivals);
    if (safe) {
        Cell near = targets[0];
        for (const Cell& target : targets) near = distance(own, target) < distance(own, near) ? target : near;
        plan[0] = Json::Object{{"task", "BOMB"}, {"x", near[0]}, {"y", near[1]}, {"z", near[2]}};
    }
    return plan;
}

// Shoot beside hits, otherwise at every other square.
#include <cstdlib>

#include "strategy.hpp"

// Whole numbers from 0 to below a limit that look random: the same for the same seed.
class Random {
public:
    explicit Random(long seed) : state_(std::labs(seed) % 2147483646 + 1) {}
    int below(int limit) {
        state_ = state_ * 16807 % 2147483647;
        return state_ / 8 % limit;
    }

private:
    long long state_;
};

// Put each boat on free squares at random.
static Json place(const Json& view, Random& random) {
    const int width = view["width"].number(), height = view["height"].number();
    std::vector<std::string> board(height, std::string(width, '.'));
    for (const Json& boat : view["boats"].list()) {
        const int length = std::stoi(boat.string().substr(1));
        for (bool placed = false; !placed;) {
            const int x = random.below(width), y = random.below(height), across = random.below(2);
            placed = x + across * (length - 1) < width && y + (1 - across) * (length - 1) < height;
            for (int step = 0; placed && step < length; step++) placed = board[y + (1 - across) * step][x + across * step] == '.';
            for (int step = 0; placed && step < length; step++) board[y + (1 - across) * step][x + across * step] = boat.string()[0];
        }
    }
    return Json::Object{{"board", Json::List(board.begin(), board.end())}};
}

static bool hit(const Json& board, int x, int y) {
    return y >= 0 && y < board.size() && x >= 0 && x < static_cast<int>(board[y].string().size()) && board[y].string()[x] == 'X';
}

// Squares that continue a row of hits come first, then squares beside a hit, then every other square.
static int worth_of(const Json& board, int x, int y) {
    static const int sides[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    int worth = 1 + (x + y) % 2;
    for (const auto& [dx, dy] : sides) {
        if (hit(board, x + dx, y + dy)) worth += hit(board, x + 2 * dx, y + 2 * dy) ? 20 : 5;
    }
    return worth;
}

static Json shoot(const Json& view, Random& random) {
    const int width = view["width"].number(), height = view["height"].number(), boards = view["boards"].size();
    Json best = Json::Object{{"skip", true}};
    int best_worth = 0;
    for (int target = 0; target < boards; target++) {
        const Json& board = view["boards"][target];
        for (int y = 0; y < height && target != view["you"].number(); y++) {
            for (int x = 0; x < width; x++) {
                const int worth = 100 * worth_of(board, x, y) + random.below(100);
                if (board[y].string()[x] != '.' || worth <= best_worth) continue;
                best = Json::Object{{"target", target}, {"x", x}, {"y", y}};
                best_worth = worth;
            }
        }
    }
    return best;
}

Json choose(const Json& view, long seed) {
    Random random(seed + view["turns"][view["you"].number()].number());
    return view["phase"].string() == "placement" ? place(view, random) : shoot(view, random);
}

// Feeds the positions of positions.jsonl to the bot. `moves` lists the legal moves, if they can be listed.
#include <fstream>
#include <iostream>
#include <string>

#include "strategy.hpp"

int main() {
    std::ifstream positions("positions.jsonl");
    int number = 0, illegal = 0;
    for (std::string line; std::getline(positions, line);) {
        const Json position = Json::parse(line);
        const std::string move = choose(position["view"], 1).text();
        bool legal = !position.has("moves");
        for (int at = 0; !legal && at < position["moves"].size(); at++) legal = position["moves"][at].text() == move;
        number++;
        if (!legal) {
            std::cout << "position " << number << ": " << move << " is not legal\n";
            illegal++;
        }
    }
    std::cout << number << " positions, " << illegal << " illegal moves\n";
    return illegal || !number;
}

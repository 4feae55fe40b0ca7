// Reads one message per line from standard input, and answers each view with a move on standard output.
// Standard error is free for messages of your own.
#include <iostream>
#include <string>

#include "strategy.hpp"

int main() {
    long seed = 1;
    for (std::string line; std::getline(std::cin, line);) {
        const Json message = Json::parse(line);
        if (message.has("begin")) {
            seed = message["begin"]["seed"].number();  // the same in each run of the same match
            std::cout << "true" << std::endl;          // ready: from now on the time of moves counts
        } else if (message.has("view")) {
            std::cout << choose(message["view"], seed).text() << std::endl;
        }
    }
}

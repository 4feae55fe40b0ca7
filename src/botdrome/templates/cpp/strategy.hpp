#pragma once

#include "json.hpp"

// The move for a view. The seed is the same in each run of the same match.
Json choose(const Json& view, long seed);

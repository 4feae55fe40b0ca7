/** Contest documents to begin with, one for each format. A test of the server reads all of them. */

const ENTRY = `
[entry]
kind = "open"
per_owner = 2

[penalties]
no_show = "forfeit"
wait = 60.0
`;

export const DOCUMENTS: Record<string, string> = {
  'round-robin': `name = "autumn-cup"
title = "Autumn Cup"
game = "noughts-and-crosses"
format = "round-robin"
games = 2
tie_breaks = ["direct", "sonneborn-berger", "wins"]
${ENTRY}`,
  swiss: `name = "autumn-swiss"
title = "Autumn Swiss"
game = "gomoku"
format = "swiss"
rounds = 5
games = 2
tie_breaks = ["opponents", "direct", "wins"]
${ENTRY}`,
  knockout: `name = "autumn-knockout"
title = "Autumn Knockout"
game = "gomoku"
format = "knockout"
best_of = 3
${ENTRY}`,
  'double-elimination': `name = "autumn-double"
title = "Autumn Double Elimination"
game = "gomoku"
format = "double-elimination"
best_of = 3
${ENTRY}`,
  groups: `name = "autumn-groups"
title = "Autumn Groups and Finals"
game = "gomoku"
format = "groups"
groups = 4
advance = 2
games = 2
${ENTRY}`,
  gauntlet: `name = "beat-the-champion"
title = "Beat the Champion"
game = "noughts-and-crosses"
format = "gauntlet"
champion = "house:random"
games = 10
${ENTRY}
[[entrants]]
bot = "house:random"
`,
  ladder: `name = "open-ladder"
title = "Open Ladder"
game = "gomoku"
format = "ladder"

[entry]
kind = "open"
late = true
versions = true
`,
};

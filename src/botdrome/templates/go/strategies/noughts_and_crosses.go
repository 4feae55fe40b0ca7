// Win, block, or take the best free space.
package main

type View struct {
	You   int
	Marks []string
	Board [3][3]string
}

type Space [2]int

type Move struct {
	Mark  string `json:"mark"`
	Space Space  `json:"space"`
}

var lines = [][]Space{
	{{0, 0}, {0, 1}, {0, 2}}, {{1, 0}, {1, 1}, {1, 2}}, {{2, 0}, {2, 1}, {2, 2}}, {{0, 0}, {1, 0}, {2, 0}},
	{{0, 1}, {1, 1}, {2, 1}}, {{0, 2}, {1, 2}, {2, 2}}, {{0, 0}, {1, 1}, {2, 2}}, {{0, 2}, {1, 1}, {2, 0}},
}
var byWorth = []Space{{1, 1}, {0, 0}, {0, 2}, {2, 0}, {2, 2}, {0, 1}, {1, 0}, {1, 2}, {2, 1}}

func choose(view *View, _ int64) Move {
	mine, theirs := view.Marks[view.You], view.Marks[1-view.You]
	if space, found := completing(view, mine); found {
		return Move{mine, space}
	}
	if space, found := completing(view, theirs); found {
		return Move{mine, space}
	}
	for _, space := range byWorth {
		if view.Board[space[0]][space[1]] == "" {
			return Move{mine, space}
		}
	}
	return Move{Mark: mine}
}

// completing returns the free space of a line in which the two others have this mark.
func completing(view *View, mark string) (Space, bool) {
	for _, line := range lines {
		marks, free := 0, []Space{}
		for _, space := range line {
			switch view.Board[space[0]][space[1]] {
			case mark:
				marks++
			case "":
				free = append(free, space)
			}
		}
		if marks == 2 && len(free) == 1 {
			return free[0], true
		}
	}
	return Space{}, false
}

// The cell that adds most to its own rows and takes most from the other's.
package main

type View struct {
	You   int
	Size  int
	Board []string
}

type Move struct {
	X int `json:"x"`
	Y int `json:"y"`
}

var directions = [][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}}
var worthOfLength = []int{0, 10, 100, 1000, 10000, 100000}

func choose(view *View, _ int64) Move {
	mine, theirs := "XO"[view.You], "OX"[view.You]
	best, bestWorth := Move{}, -1
	for y := 0; y < view.Size; y++ {
		for x := 0; x < view.Size; x++ {
			if view.Board[y][x] != '.' {
				continue
			}
			worth := 3*worthOf(view, x, y, mine) + 2*worthOf(view, x, y, theirs)
			worth += view.Size - (abs(2*x+1-view.Size)+abs(2*y+1-view.Size))/2
			if worth > bestWorth {
				best, bestWorth = Move{x, y}, worth
			}
		}
	}
	return best
}

// worthOf is higher the longer the rows through this cell would be, and the more open.
func worthOf(view *View, x, y int, mark byte) int {
	total := 0
	for _, step := range directions {
		ahead, openAhead := run(view, x, y, step[0], step[1], mark)
		behind, openBehind := run(view, x, y, -step[0], -step[1], mark)
		length, open := ahead+behind+1, openAhead+openBehind
		if length > 5 {
			length = 5
		}
		if length == 5 || open > 0 {
			total += worthOfLength[length] * (1 + open)
		}
	}
	return total
}

// run returns the stones of this mark in a row from here, and 1 if the cell after them is free.
func run(view *View, x, y, dx, dy int, mark byte) (stones, open int) {
	for {
		x, y = x+dx, y+dy
		if x < 0 || x >= view.Size || y < 0 || y >= view.Size {
			return stones, 0
		}
		if view.Board[y][x] == '.' {
			return stones, 1
		}
		if view.Board[y][x] != mark {
			return stones, 0
		}
		stones++
	}
}

func abs(value int) int {
	if value < 0 {
		return -value
	}
	return value
}

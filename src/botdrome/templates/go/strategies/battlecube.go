// Bomb a rival that stood still, otherwise step to the safest cell.
package main

type Cell [3]int

type Player struct{ Seat, X, Y, Z int }

type View struct {
	You      int
	Edge     int
	Tasks    int
	Players  []Player
	Bombs    []Cell
	Happened []struct {
		Seat int
		Did  string
	}
}

type Task map[string]any

var steps = []struct {
	direction string
	step      Cell
}{
	{"+X", Cell{1, 0, 0}}, {"-X", Cell{-1, 0, 0}}, {"+Y", Cell{0, 1, 0}},
	{"-Y", Cell{0, -1, 0}}, {"+Z", Cell{0, 0, 1}}, {"-Z", Cell{0, 0, -1}},
}

func choose(view *View, _ int64) []Task {
	still := map[int]bool{}
	for _, entry := range view.Happened {
		if entry.Did == "nothing" || entry.Did == "bomb" {
			still[entry.Seat] = true
		}
	}
	var own Cell
	var rivals, targets []Cell
	for _, player := range view.Players {
		cell := Cell{player.X, player.Y, player.Z}
		if player.Seat == view.You {
			own = cell
			continue
		}
		rivals = append(rivals, cell)
		if still[player.Seat] {
			targets = append(targets, cell)
		}
	}
	plan := []Task{firstTask(view, own, rivals, targets)}
	for len(plan) < view.Tasks {
		plan = append(plan, Task{"task": "NOOP"})
	}
	return plan
}

func firstTask(view *View, own Cell, rivals, targets []Cell) Task {
	safe := len(targets) > 0
	for _, rival := range rivals {
		safe = safe && distance(own, rival) > 1
	}
	if safe {
		near := targets[0]
		for _, target := range targets {
			if distance(own, target) < distance(own, near) {
				near = target
			}
		}
		return Task{"task": "BOMB", "x": near[0], "y": near[1], "z": near[2]}
	}
	best, bestWorth := "", -100000
	for _, step := range steps {
		cell := Cell{own[0] + step.step[0], own[1] + step.step[1], own[2] + step.step[2]}
		if worth := safety(view, cell, rivals); worth > bestWorth {
			best, bestWorth = step.direction, worth
		}
	}
	return Task{"task": "MOVE", "direction": best}
}

// safety: bombs and the outside are deadly; a cell that a rival can reach is dangerous; the middle is better than the edge.
func safety(view *View, cell Cell, rivals []Cell) int {
	worth := 0
	for _, place := range cell {
		if place < 0 || place >= view.Edge {
			return -10000
		}
		worth -= abs(2*place - view.Edge + 1)
	}
	for _, bomb := range view.Bombs {
		if bomb == cell {
			worth -= 5000
		}
	}
	for _, rival := range rivals {
		if distance(cell, rival) <= 1 {
			worth -= 1000
		}
	}
	return worth
}

func distance(one, other Cell) int {
	return abs(one[0]-other[0]) + abs(one[1]-other[1]) + abs(one[2]-other[2])
}

func abs(value int) int {
	if value < 0 {
		return -value
	}
	return value
}

// Each drone flies to the nearest flower that no other drone of the bot wants.
package main

import "sort"

const flower = 2

type Hex [2]int

type View struct {
	You       int
	Board     [][]*int
	Territory []int
	Drones    []map[string]struct{ Position Hex }
}

type Move struct {
	Orders map[string]string `json:"orders"`
}

// A Way leads to a hex: its first direction, and the hex to which that leads.
type Way struct {
	hex       Hex
	direction string
	first     Hex
}

var steps = []struct {
	direction string
	step      Hex
}{{"UL", Hex{-1, -1}}, {"UR", Hex{-1, 0}}, {"R", Hex{0, 1}}, {"DR", Hex{1, 1}}, {"DL", Hex{1, 0}}, {"L", Hex{0, -1}}}

func choose(view *View, _ int64) Move {
	occupied, sought := map[Hex]bool{}, map[Hex]bool{}
	for _, swarm := range view.Drones {
		for _, drone := range swarm {
			occupied[drone.Position] = true
		}
	}
	own, names := view.Drones[view.You], []string{}
	for name := range own {
		names = append(names, name)
	}
	sort.Strings(names)
	orders := map[string]string{}
	for _, name := range names {
		if way, found := wayToFlower(view, own[name].Position, occupied, sought); found {
			orders[name] = way.direction
			occupied[way.first] = true
			sought[way.hex] = true
		}
	}
	return Move{orders}
}

// wayToFlower returns the shortest way to a flower, if there is one.
func wayToFlower(view *View, start Hex, occupied, sought map[Hex]bool) (Way, bool) {
	seen, queue := map[Hex]bool{start: true}, []Way{{hex: start}}
	for at := 0; at < len(queue); at++ {
		way := queue[at]
		if way.direction != "" && kindOf(view, way.hex) == flower && !sought[way.hex] {
			return way, true
		}
		for _, step := range steps {
			beside := Hex{way.hex[0] + step.step[0], way.hex[1] + step.step[1]}
			if !isOpen(view, beside) || seen[beside] || occupied[beside] {
				continue
			}
			seen[beside] = true
			next := Way{beside, way.direction, way.first}
			if way.direction == "" {
				next = Way{beside, step.direction, beside}
			}
			queue = append(queue, next)
		}
	}
	return Way{}, false
}

func kindOf(view *View, hex Hex) int {
	if kind := view.Board[hex[0]][hex[1]]; kind != nil {
		return *kind
	}
	return -1
}

func isOpen(view *View, hex Hex) bool {
	kind := kindOf(view, hex)
	return kind == 0 || kind == flower || kind == view.Territory[view.You]
}

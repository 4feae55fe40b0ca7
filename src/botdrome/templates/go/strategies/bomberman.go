// Leave the reach of bombs, bomb crates and rivals if there is a way out, take upgrades.
package main

type Tile [2]int

type View struct {
	You          int
	Round        int
	Fuse         int
	Height       int
	Width        int
	FlamePierces bool
	Tiles        []string
	Users        []struct {
		Seat      int
		At        Tile
		Alive     bool
		BombsLeft int
		Range     int
	}
	Bombs []struct {
		At    Tile
		Range int
	}
	Upgrades []struct{ At Tile }
	Closing  struct {
		At   *int
		Next []Tile
	}
}

type Move struct {
	Action string `json:"action"`
}

type Place struct {
	tile  Tile
	first string
	steps int
}

var steps = []struct {
	action string
	step   Tile
}{{"MOVE_UP", Tile{-1, 0}}, {"MOVE_DOWN", Tile{1, 0}}, {"MOVE_LEFT", Tile{0, -1}}, {"MOVE_RIGHT", Tile{0, 1}}}

func choose(view *View, _ int64) Move {
	if action := actionFor(view); action != "" {
		return Move{action}
	}
	return Move{"WAIT"}
}

func actionFor(view *View) string {
	me := view.Users[view.You]
	danger := inDanger(view)
	if danger[me.At] {
		return firstStep(view, me.At, func(tile Tile) bool { return !danger[tile] }, nil, 1000)
	}
	if me.BombsLeft > 0 && isTarget(view, me.At, me.Range) {
		worse := inDanger(view)
		for _, tile := range burned(view, me.At, me.Range) {
			worse[tile] = true
		}
		if firstStep(view, me.At, func(tile Tile) bool { return !worse[tile] }, nil, view.Fuse) != "" {
			return "PLACE_BOMB"
		}
	}
	upgrades := map[Tile]bool{}
	for _, upgrade := range view.Upgrades {
		upgrades[upgrade.At] = true
	}
	wanted := func(tile Tile) bool { return upgrades[tile] || isTarget(view, tile, me.Range) }
	return firstStep(view, me.At, wanted, danger, 1000)
}

// inDanger returns the tiles that burn when the bombs explode, and those that close soon.
func inDanger(view *View) map[Tile]bool {
	tiles := map[Tile]bool{}
	for _, bomb := range view.Bombs {
		for _, tile := range burned(view, bomb.At, bomb.Range) {
			tiles[tile] = true
		}
	}
	if at := view.Closing.At; at != nil && *at-view.Round < 8 {
		for _, tile := range view.Closing.Next {
			tiles[tile] = true
		}
	}
	return tiles
}

func burned(view *View, at Tile, reach int) []Tile {
	tiles := []Tile{at}
	for _, step := range steps {
		for distance := 1; distance <= reach; distance++ {
			tile := Tile{at[0] + step.step[0]*distance, at[1] + step.step[1]*distance}
			kind := kindOf(view, tile)
			if kind == '#' {
				break
			}
			tiles = append(tiles, tile)
			if kind == '+' && !view.FlamePierces {
				break
			}
		}
	}
	return tiles
}

func kindOf(view *View, tile Tile) byte {
	if tile[0] < 0 || tile[0] >= view.Height || tile[1] < 0 || tile[1] >= view.Width {
		return '#'
	}
	return view.Tiles[tile[0]][tile[1]]
}

// isTarget tells whether a bomb here would burn a crate or a rival.
func isTarget(view *View, at Tile, reach int) bool {
	for _, tile := range burned(view, at, reach) {
		if kindOf(view, tile) == '+' {
			return true
		}
		for _, user := range view.Users {
			if user.Alive && user.Seat != view.You && user.At == tile {
				return true
			}
		}
	}
	return false
}

// firstStep returns the first step of the shortest way to a wanted tile; "" if there is no way.
func firstStep(view *View, own Tile, wanted func(Tile) bool, avoided map[Tile]bool, most int) string {
	closed := map[Tile]bool{}
	for _, user := range view.Users {
		closed[user.At] = closed[user.At] || user.Alive
	}
	for _, bomb := range view.Bombs {
		closed[bomb.At] = true
	}
	queue := []Place{{own, "", 0}}
	for at := 0; at < len(queue); at++ {
		here := queue[at]
		if here.first != "" && wanted(here.tile) {
			return here.first
		}
		for _, step := range steps {
			beside := Tile{here.tile[0] + step.step[0], here.tile[1] + step.step[1]}
			if here.steps == most || kindOf(view, beside) != '.' || closed[beside] || avoided[beside] {
				continue
			}
			closed[beside] = true
			first := here.first
			if first == "" {
				first = step.action
			}
			queue = append(queue, Place{beside, first, here.steps + 1})
		}
	}
	return ""
}

// Shoot beside hits, otherwise at every other square.
package main

import (
	"math/rand"
	"strconv"
)

type View struct {
	You    int
	Phase  string
	Width  int
	Height int
	Boats  []string
	Boards [][]string
	Turns  []int
}

type Fleet struct {
	Board []string `json:"board"`
}

type Shot struct {
	Target int `json:"target"`
	X      int `json:"x"`
	Y      int `json:"y"`
}

var sides = [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}

func choose(view *View, seed int64) any {
	random := rand.New(rand.NewSource(seed + int64(view.Turns[view.You])))
	if view.Phase == "placement" {
		return place(view, random)
	}
	return shoot(view, random)
}

// place puts each boat on free squares at random.
func place(view *View, random *rand.Rand) Fleet {
	board := make([][]byte, view.Height)
	for y := range board {
		board[y] = make([]byte, view.Width)
		for x := range board[y] {
			board[y][x] = '.'
		}
	}
	for _, boat := range view.Boats {
		length, _ := strconv.Atoi(boat[1:])
		for !put(board, boat[0], length, random) {
		}
	}
	fleet := Fleet{}
	for _, row := range board {
		fleet.Board = append(fleet.Board, string(row))
	}
	return fleet
}

// put tries one place; it returns false if the boat does not fit there.
func put(board [][]byte, letter byte, length int, random *rand.Rand) bool {
	x, y, across := random.Intn(len(board[0])), random.Intn(len(board)), random.Intn(2)
	down := 1 - across
	if x+across*(length-1) >= len(board[0]) || y+down*(length-1) >= len(board) {
		return false
	}
	for step := 0; step < length; step++ {
		if board[y+down*step][x+across*step] != '.' {
			return false
		}
	}
	for step := 0; step < length; step++ {
		board[y+down*step][x+across*step] = letter
	}
	return true
}

func shoot(view *View, random *rand.Rand) any {
	var best any = map[string]bool{"skip": true}
	bestWorth := 0
	for target, board := range view.Boards {
		if target == view.You {
			continue
		}
		for y := range board {
			for x := range board[y] {
				worth := 100*worthOf(board, x, y) + random.Intn(100)
				if board[y][x] == '.' && worth > bestWorth {
					best, bestWorth = Shot{target, x, y}, worth
				}
			}
		}
	}
	return best
}

// worthOf ranks squares that continue a row of hits first, then squares beside a hit, then every other square.
func worthOf(board []string, x, y int) int {
	worth := 1 + (x+y)%2
	for _, side := range sides {
		if hit(board, x+side[0], y+side[1]) {
			worth += 5
			if hit(board, x+2*side[0], y+2*side[1]) {
				worth += 15
			}
		}
	}
	return worth
}

func hit(board []string, x, y int) bool {
	return y >= 0 && y < len(board) && x >= 0 && x < len(board[y]) && board[y][x] == 'X'
}

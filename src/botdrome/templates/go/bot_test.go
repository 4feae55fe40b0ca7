// Feeds the positions of positions.jsonl to the bot. `moves` lists the legal moves, if they can be listed.
package main

import (
	"encoding/json"
	"io"
	"os"
	"reflect"
	"testing"
)

func TestPositions(t *testing.T) {
	file, err := os.Open("positions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for positions, number := json.NewDecoder(file), 1; ; number++ {
		var position struct {
			View  *View
			Moves []any
		}
		if err := positions.Decode(&position); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		move, _ := json.Marshal(choose(position.View, 1))
		if position.Moves != nil && !listed(move, position.Moves) {
			t.Errorf("position %d: %s is not legal", number, move)
		}
	}
}

func listed(move []byte, moves []any) bool {
	var plain any
	if json.Unmarshal(move, &plain) != nil {
		return false
	}
	for _, legal := range moves {
		if reflect.DeepEqual(legal, plain) {
			return true
		}
	}
	return false
}

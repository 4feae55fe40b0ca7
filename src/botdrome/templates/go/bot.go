// Reads one message per line from standard input, and answers each view with a move on standard output.
// Standard error is free for messages of your own.
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
)

type Message struct {
	Begin *struct{ Seed int64 }
	View  *View
}

func main() {
	input, output := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	seed := int64(1)
	for {
		var message Message
		if err := input.Decode(&message); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		var answer any
		if message.Begin != nil {
			seed = message.Begin.Seed // the same in each run of the same match
			answer = true             // ready: from now on the time of moves counts
		} else if message.View != nil {
			answer = choose(message.View, seed)
		}
		if answer == nil {
			continue
		}
		if err := output.Encode(answer); err != nil {
			log.Fatal(err)
		}
	}
}

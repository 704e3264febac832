// Decodes documents of Kubernetes, one a line, with the types of Kubernetes itself. A field that they do not have is an error.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
)

func decode(line []byte) (any, error) {
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return nil, err
	}
	var into any
	switch kind.Kind {
	case "Pod":
		into = &v1.Pod{}
	case "Node":
		into = &v1.Node{}
	default:
		return nil, fmt.Errorf("kind %q", kind.Kind)
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return nil, err
	}
	return into, nil
}

// Prints the document as Kubernetes would write it, or with the argument "fields" the fields of the kinds that runt takes.
func main() {
	if len(os.Args) > 1 && os.Args[1] == "fields" {
		printFields()
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 0, 1<<20), 1<<24)
	for lines.Scan() {
		decoded, err := decode(lines.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		text, err := json.Marshal(decoded)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(text))
	}
}

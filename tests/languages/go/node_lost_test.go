package languages

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v8"
)

// Cluster is an embedded cluster: a process that takes requests in JSON, and ends with its standard input.
type Cluster struct {
	requests *json.Encoder
	answers  *bufio.Scanner
	Nodes    []struct{ ID, Address string }
}

func start(t *testing.T, nodes int) *Cluster {
	program := exec.Command(os.Getenv("AEROLANE_EMBEDDED"), "--control")
	in, _ := program.StdinPipe()
	out, _ := program.StdoutPipe()
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); program.Wait() })
	cluster := &Cluster{requests: json.NewEncoder(in), answers: bufio.NewScanner(out)}
	cluster.ask(t, map[string]any{"do": "start", "nodes": nodes}, cluster)
	return cluster
}

func (cluster *Cluster) ask(t *testing.T, request map[string]any, into any) {
	if err := cluster.requests.Encode(request); err != nil || !cluster.answers.Scan() {
		t.Fatal("the embedded cluster has ended: ", err)
	}
	answer := struct {
		Ok    json.RawMessage
		Error *struct{ Kind, Text string }
	}{}
	if err := json.Unmarshal(cluster.answers.Bytes(), &answer); err != nil || answer.Error != nil {
		t.Fatal(cluster.answers.Text())
	}
	if into != nil {
		if err := json.Unmarshal(answer.Ok, into); err != nil {
			t.Fatal(err)
		}
	}
}

func TestANodeIsLost(t *testing.T) {
	cluster := start(t, 3)
	host, port, _ := strings.Cut(cluster.Nodes[0].Address, ":")
	number, _ := strconv.Atoi(port)
	client, err := as.NewClient(host, number)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	key := func(i int) *as.Key { key, _ := as.NewKey("test", "go", i); return key }
	for i := 0; i < 100; i++ {
		if err := client.Put(nil, key(i), as.BinMap{"n": i}); err != nil {
			t.Fatal(err)
		}
	}
	cluster.ask(t, map[string]any{"do": "stop_nodes", "nodes": []string{cluster.Nodes[1].ID}}, nil)
	for i := 0; i < 100; i++ {
		record, err := client.Get(nil, key(i))
		if err != nil || record.Bins["n"] != i {
			t.Fatal(i, err, record)
		}
	}
}

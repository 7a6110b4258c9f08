import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import test from "node:test";
import Aerospike from "aerospike";

/** An embedded cluster: a process that takes requests in JSON, and ends with its standard input. */
async function start(nodes) {
  const process_ = spawn(process.env.AEROLANE_EMBEDDED ?? "aerolane-embedded", ["--control"]);
  const answers = createInterface({ input: process_.stdout })[Symbol.asyncIterator]();
  const ask = async (request) => {
    process_.stdin.write(JSON.stringify(request) + "\n");
    const { ok, error } = JSON.parse((await answers.next()).value);
    if (error) throw new Error(error.text);
    return ok;
  };
  return { ...(await ask({ do: "start", nodes })), ask, close: () => process_.stdin.end() };
}

test("a node is lost", async () => {
  const cluster = await start(3);
  const client = await Aerospike.connect({ hosts: cluster.seeds });
  const key = (i) => new Aerospike.Key("test", "node", i);
  for (let i = 0; i < 100; i++) await client.put(key(i), { n: i });
  await cluster.ask({ do: "stop_nodes", nodes: [cluster.nodes[1].id] });
  for (let i = 0; i < 100; i++) assert.equal((await client.get(key(i))).bins.n, i);
  client.close();
  cluster.close();
});

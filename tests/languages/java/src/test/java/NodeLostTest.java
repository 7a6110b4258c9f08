import static org.junit.jupiter.api.Assertions.assertEquals;

import com.aerospike.client.AerospikeClient;
import com.aerospike.client.Bin;
import com.aerospike.client.Key;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import org.junit.jupiter.api.Test;

class NodeLostTest {
    /** An embedded cluster: a process that takes requests in JSON, and ends with its standard input. */
    record Cluster(Process process, BufferedReader answers) implements AutoCloseable {
        static Cluster start() throws IOException {
            var process = new ProcessBuilder(System.getenv("AEROLANE_EMBEDDED"), "--control").start();
            return new Cluster(process, new BufferedReader(new InputStreamReader(process.getInputStream())));
        }

        JsonObject ask(String request) throws IOException {
            var requests = process.getOutputStream();
            requests.write((request + "\n").getBytes());
            requests.flush();
            var answer = JsonParser.parseString(answers.readLine()).getAsJsonObject();
            if (answer.has("error")) {
                throw new IllegalArgumentException(answer.toString());
            }
            return answer.get("ok").isJsonNull() ? null : answer.getAsJsonObject("ok");
        }

        @Override
        public void close() throws IOException {
            process.getOutputStream().close();
        }
    }

    @Test
    void aNodeIsLost() throws Exception {
        try (var cluster = Cluster.start()) {
            var nodes = cluster.ask("{'do':'start','nodes':3}".replace('\'', '"')).getAsJsonArray("nodes");
            var address = nodes.get(0).getAsJsonObject().get("address").getAsString().split(":");
            try (var client = new AerospikeClient(address[0], Integer.parseInt(address[1]))) {
                for (int i = 0; i < 100; i++) {
                    client.put(null, new Key("test", "java", i), new Bin("n", i));
                }
                var lost = nodes.get(1).getAsJsonObject().get("id").getAsString();
                cluster.ask("{\"do\":\"stop_nodes\",\"nodes\":[\"" + lost + "\"]}");
                for (int i = 0; i < 100; i++) {
                    assertEquals(i, client.get(null, new Key("test", "java", i)).getInt("n"));
                }
            }
        }
    }
}

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Reads one message per line from standard input, and answers each view with a move on standard output. */
public class Bot {
    public static void main(String[] args) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        long seed = 1;
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Json message = Json.parse(line);
            if (message.has("begin")) {
                seed = message.get("begin").get("seed").number(); // the same in each run of the same match
                System.out.println("true"); // ready: from now on the time of moves counts
            } else if (message.has("view")) {
                System.out.println(Strategy.choose(message.get("view"), seed).text());
            }
        }
    }
}

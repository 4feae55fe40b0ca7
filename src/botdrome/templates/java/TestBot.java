import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Feeds the positions of positions.jsonl to the bot. `moves` lists the legal moves, if they can be listed. */
public class TestBot {
    public static void main(String[] args) throws IOException {
        int number = 0;
        int illegal = 0;
        for (String line : Files.readAllLines(Path.of("positions.jsonl"))) {
            Json position = Json.parse(line);
            String move = Strategy.choose(position.get("view"), 1).text();
            number++;
            if (position.has("moves") && position.get("moves").list().stream().noneMatch(legal -> legal.text().equals(move))) {
                System.out.println("position " + number + ": " + move + " is not legal");
                illegal++;
            }
        }
        System.out.println(number + " positions, " + illegal + " illegal moves");
        System.exit(number > 0 && illegal == 0 ? 0 : 1);
    }
}

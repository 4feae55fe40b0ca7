import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A JSON value: just what the messages of a match need. For more, use a JSON library. */
public final class Json {
    /** Null, a Boolean, a Double, a String, a List or a Map. */
    private final Object value;

    private Json(Object value) {
        this.value = value;
    }

    /** A value from a boolean, a number, a text, a list, a map, or from values of this class. */
    public static Json of(Object value) {
        if (value instanceof Json json) {
            return json;
        }
        if (value instanceof List<?> items) {
            return new Json(items.stream().map(Json::of).collect(Collectors.toList()));
        }
        if (value instanceof Map<?, ?> entries) {
            Map<String, Json> sorted = new TreeMap<>();
            entries.forEach((key, item) -> sorted.put((String) key, of(item)));
            return new Json(sorted);
        }
        return new Json(value instanceof Number number ? (Object) number.doubleValue() : value);
    }

    public static Json parse(String source) {
        return new Parser(source).read();
    }

    public boolean isNull() {
        return value == null;
    }

    public boolean isTrue() {
        return Boolean.TRUE.equals(value);
    }

    public int number() {
        return (int) (long) (double) value;
    }

    public String string() {
        return (String) value;
    }

    @SuppressWarnings("unchecked")
    public List<Json> list() {
        return (List<Json>) value;
    }

    @SuppressWarnings("unchecked")
    public Map<String, Json> map() {
        return (Map<String, Json>) value;
    }

    public Json get(int at) {
        return list().get(at);
    }

    public Json get(String key) {
        return map().get(key);
    }

    public boolean has(String key) {
        return map().containsKey(key);
    }

    /** As JSON, with the keys in alphabetical order. */
    public String text() {
        if (value instanceof String text) {
            return quoted(text);
        }
        if (value instanceof Double number) {
            return number == Math.rint(number) ? String.valueOf(number.longValue()) : number.toString();
        }
        if (value instanceof List) {
            return list().stream().map(Json::text).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof Map) {
            return map().entrySet().stream()
                    .map(entry -> quoted(entry.getKey()) + ":" + entry.getValue().text())
                    .collect(Collectors.joining(",", "{", "}"));
        }
        return String.valueOf(value);
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private static final class Parser {
        private final String source;
        private int at = 0;

        Parser(String source) {
            this.source = source;
        }

        Json read() {
            switch (next()) {
                case '{':
                    return new Json(readMap());
                case '[':
                    return new Json(readList());
                case '"':
                    return new Json(readText());
                case 't':
                    return word("true", true);
                case 'f':
                    return word("false", false);
                case 'n':
                    return word("null", null);
                default:
                    int start = at;
                    while (at < source.length() && "+-.eE0123456789".indexOf(source.charAt(at)) >= 0) {
                        at++;
                    }
                    return new Json(Double.valueOf(source.substring(start, at)));
            }
        }

        private char next() {
            while (Character.isWhitespace(source.charAt(at))) {
                at++;
            }
            return source.charAt(at);
        }

        private Json word(String word, Object meaning) {
            at += word.length();
            return new Json(meaning);
        }

        private Map<String, Json> readMap() {
            Map<String, Json> entries = new TreeMap<>();
            at++;
            while (next() != '}') {
                if (source.charAt(at) == ',') {
                    at++;
                    next();
                }
                String key = readText();
                next();
                at++; // the colon
                entries.put(key, read());
            }
            at++;
            return entries;
        }

        private List<Json> readList() {
            List<Json> items = new ArrayList<>();
            at++;
            while (next() != ']') {
                if (source.charAt(at) == ',') {
                    at++;
                }
                items.add(read());
            }
            at++;
            return items;
        }

        /** Escapes other than \" and \\ stay as they are: names may have them, moves do not. */
        private String readText() {
            StringBuilder text = new StringBuilder();
            for (at++; source.charAt(at) != '"'; at++) {
                if (source.charAt(at) == '\\' && "\"\\".indexOf(source.charAt(at + 1)) >= 0) {
                    at++;
                }
                text.append(source.charAt(at));
            }
            at++;
            return text.toString();
        }
    }
}

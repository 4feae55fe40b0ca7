//! A JSON value: just what the messages of a match need. For more, use a crate such as serde_json.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

#[allow(dead_code)]
impl Json {
    pub fn parse(source: &str) -> Json {
        Parser { source: source.as_bytes(), at: 0 }.value()
    }

    pub fn object<const N: usize>(entries: [(&str, Json); N]) -> Json {
        Json::Object(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
    }

    pub fn text(text: &str) -> Json {
        Json::Text(text.to_string())
    }

    pub fn find(&self, key: &str) -> Option<&Json> {
        self.map().get(key)
    }

    pub fn number(&self) -> i64 {
        match self {
            Json::Number(value) => *value as i64,
            other => panic!("{} is not a number", other),
        }
    }

    pub fn string(&self) -> &str {
        match self {
            Json::Text(text) => text,
            other => panic!("{} is not a text", other),
        }
    }

    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            other => panic!("{} is not a list", other),
        }
    }

    pub fn map(&self) -> &BTreeMap<String, Json> {
        match self {
            Json::Object(entries) => entries,
            other => panic!("{} is not an object", other),
        }
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Json {
        Json::Number(value as f64)
    }
}

impl Index<&str> for Json {
    type Output = Json;
    fn index(&self, key: &str) -> &Json {
        &self.map()[key]
    }
}

impl Index<i64> for Json {
    type Output = Json;
    fn index(&self, at: i64) -> &Json {
        &self.list()[at as usize]
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => write!(out, "null"),
            Json::Bool(value) => write!(out, "{}", value),
            Json::Number(value) => write!(out, "{}", value),
            Json::Text(text) => write!(out, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Json::List(items) => {
                let items: Vec<String> = items.iter().map(Json::to_string).collect();
                write!(out, "[{}]", items.join(","))
            }
            Json::Object(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("{}:{}", Json::text(key), value)).collect();
                write!(out, "{{{}}}", entries.join(","))
            }
        }
    }
}

struct Parser<'a> {
    source: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> u8 {
        while self.source[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.source[self.at]
    }

    fn value(&mut self) -> Json {
        match self.next() {
            b'{' => self.object(),
            b'[' => self.list(),
            b'"' => Json::Text(self.string()),
            b't' => self.word(4, Json::Bool(true)),
            b'f' => self.word(5, Json::Bool(false)),
            b'n' => self.word(4, Json::Null),
            _ => self.number(),
        }
    }

    fn word(&mut self, length: usize, value: Json) -> Json {
        self.at += length;
        value
    }

    fn number(&mut self) -> Json {
        let start = self.at;
        while self.at < self.source.len() && b"+-.eE0123456789".contains(&self.source[self.at]) {
            self.at += 1;
        }
        let digits = std::str::from_utf8(&self.source[start..self.at]).unwrap_or("");
        Json::Number(digits.parse().expect("a JSON value"))
    }

    fn list(&mut self) -> Json {
        let mut items = Vec::new();
        self.at += 1;
        while self.next() != b']' {
            if self.source[self.at] == b',' {
                self.at += 1;
            }
            items.push(self.value());
        }
        self.at += 1;
        Json::List(items)
    }

    fn object(&mut self) -> Json {
        let mut entries = BTreeMap::new();
        self.at += 1;
        while self.next() != b'}' {
            if self.source[self.at] == b',' {
                self.at += 1;
                self.next();
            }
            let key = self.string();
            self.next();
            self.at += 1; // the colon
            entries.insert(key, self.value());
        }
        self.at += 1;
        Json::Object(entries)
    }

    /// Escapes other than \" and \\ stay as they are: names may have them, moves do not.
    fn string(&mut self) -> String {
        let mut bytes = Vec::new();
        self.at += 1;
        while self.source[self.at] != b'"' {
            if self.source[self.at] == b'\\' && b"\"\\".contains(&self.source[self.at + 1]) {
                self.at += 1;
            }
            bytes.push(self.source[self.at]);
            self.at += 1;
        }
        self.at += 1;
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

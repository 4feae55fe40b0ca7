// A JSON value: just what the messages of a match need. For more, use a JSON library.
#pragma once

#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

class Json {
public:
    using Object = std::map<std::string, Json>;
    using List = std::vector<Json>;

    Json() = default;
    Json(bool value) : kind_(Boolean), number_(value) {}
    Json(int value) : kind_(Number), number_(value) {}
    Json(double value) : kind_(Number), number_(value) {}
    Json(const char* value) : kind_(Text), text_(value) {}
    Json(std::string value) : kind_(Text), text_(std::move(value)) {}
    Json(List value) : kind_(Array), list_(std::move(value)) {}
    Json(Object value) : kind_(Map), object_(std::move(value)) {}

    static Json parse(const std::string& source) {
        size_t at = 0;
        return read(source, at);
    }

    bool is_null() const { return kind_ == Null; }
    bool boolean() const { return number_ != 0; }
    long number() const { return static_cast<long>(number_); }
    const std::string& string() const { return text_; }
    const Object& object() const { return object_; }
    const List& list() const { return list_; }
    int size() const { return static_cast<int>(list_.size()); }
    bool has(const std::string& key) const { return object_.count(key) > 0; }
    const Json& operator[](int at) const { return list_.at(at); }
    const Json& operator[](const char* key) const { return object_.at(key); }

    // As JSON, with the keys in alphabetical order.
    std::string text() const {
        switch (kind_) {
            case Null: return "null";
            case Boolean: return number_ != 0 ? "true" : "false";
            case Number: return number_ == number() ? std::to_string(number()) : std::to_string(number_);
            case Text: return quoted(text_);
            case Array: return joined(list_, '[', ']', [](const Json& item) { return item.text(); });
            default: return joined(object_, '{', '}', [](const auto& pair) { return quoted(pair.first) + ":" + pair.second.text(); });
        }
    }

private:
    enum Kind { Null, Boolean, Number, Text, Array, Map };
    Kind kind_ = Null;
    double number_ = 0;
    std::string text_;
    List list_;
    Object object_;

    template <class Items, class Write>
    static std::string joined(const Items& items, char open, char close, Write write) {
        std::string result(1, open);
        for (const auto& item : items) result += (result.size() > 1 ? "," : "") + write(item);
        return result + close;
    }

    static std::string quoted(const std::string& text) {
        std::string result = "\"";
        for (const char letter : text) {
            if (letter == '"' || letter == '\\') result += '\\';
            result += letter;
        }
        return result + '"';
    }

    static char next(const std::string& source, size_t& at) {
        while (at < source.size() && std::isspace(static_cast<unsigned char>(source[at]))) at++;
        return at < source.size() ? source[at] : throw std::runtime_error("the JSON text ends early");
    }

    static Json read(const std::string& source, size_t& at) {
        const char first = next(source, at);
        if (first == '{') return read_object(source, at);
        if (first == '[') return read_list(source, at);
        if (first == '"') return Json(read_text(source, at));
        if (first == 't') return at += 4, Json(true);
        if (first == 'f') return at += 5, Json(false);
        if (first == 'n') return at += 4, Json();
        char* end;
        const double value = std::strtod(source.c_str() + at, &end);
        at = end - source.c_str();
        return Json(value);
    }

    static Json read_object(const std::string& source, size_t& at) {
        Object result;
        for (at++; next(source, at) != '}';) {
            if (source[at] == ',') at++;
            next(source, at);
            const std::string key = read_text(source, at);
            next(source, at);
            at++;  // the colon
            result[key] = read(source, at);
        }
        at++;
        return Json(result);
    }

    static Json read_list(const std::string& source, size_t& at) {
        List result;
        for (at++; next(source, at) != ']';) {
            if (source[at] == ',') at++;
            result.push_back(read(source, at));
        }
        at++;
        return Json(result);
    }

    // Escapes other than \" and \\ stay as they are: names may have them, moves do not.
    static std::string read_text(const std::string& source, size_t& at) {
        std::string result;
        for (at++; at < source.size() && source[at] != '"'; at++) {
            if (source[at] == '\\' && at + 1 < source.size() && (source[at + 1] == '"' || source[at + 1] == '\\')) at++;
            result += source[at];
        }
        at++;
        return result;
    }
};

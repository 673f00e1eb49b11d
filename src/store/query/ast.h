// SPDX-License-Identifier: Apache-2.0
// A query as PuppetDB's abstract syntax tree: JSON arrays that begin with the operator. Also its
// JSON reader, whose errors have PuppetDB's wording and positions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bunraku::query {

/// An error in a query. `message` is the body that PuppetDB returns, `status` is its HTTP status.
struct QueryError {
    int status = 400;
    std::string message;
    /// true for an unknown field; an "and" reports those of all its terms together
    bool field = false;
};

/// Deeper queries are rejected because all code that traverses them is recursive.
inline constexpr int kMaxQueryDepth = 200;
/// Longer queries are rejected before they are parsed.
inline constexpr std::size_t kMaxQueryBytes = 4 << 20;

class Ast {
public:
    enum class Kind : std::uint8_t { Null, Bool, Int, Real, Text, Array, Map };

    Ast() = default;
    static Ast null() { return {}; }
    static Ast boolean(bool b);
    static Ast integer(std::int64_t i);
    static Ast real(double d);
    /// An integer beyond 64 bits: its digits and its value as a double.
    static Ast big(std::string digits, double d);
    static Ast text(std::string s);
    static Ast array(std::vector<Ast> items = {});
    static Ast map();

    Kind kind() const { return kind_; }
    bool is_null() const { return kind_ == Kind::Null; }
    bool is_bool() const { return kind_ == Kind::Bool; }
    bool is_int() const { return kind_ == Kind::Int; }
    bool is_number() const { return kind_ == Kind::Int || kind_ == Kind::Real; }
    bool is_text() const { return kind_ == Kind::Text; }
    bool is_array() const { return kind_ == Kind::Array; }
    bool is_map() const { return kind_ == Kind::Map; }
    bool is_text(std::string_view s) const { return kind_ == Kind::Text && text_ == s; }

    bool as_bool() const { return number_.i != 0; }
    std::int64_t as_int() const { return number_.i; }
    double as_real() const {
        return kind_ == Kind::Int ? static_cast<double>(number_.i) : number_.d;
    }
    const std::string& as_text() const { return text_; }
    std::string& as_text() { return text_; }
    const std::vector<Ast>& items() const { return items_; }
    std::vector<Ast>& items() { return items_; }
    std::size_t size() const { return items_.size(); }
    const Ast& operator[](std::size_t i) const { return items_[i]; }
    Ast& operator[](std::size_t i) { return items_[i]; }
    /// Returns the keys of a map in order; items() returns the values.
    const std::vector<std::string>& keys() const { return keys_; }
    /// Returns the digits of a number that big() made. Empty for other values.
    std::string_view digits() const { return kind_ == Kind::Real ? text_ : std::string_view(); }
    const Ast* find(std::string_view key) const;
    void put(std::string key, Ast value);

    /// Reports whether this is an array that begins with the operator.
    bool is_op(std::string_view op) const {
        return kind_ == Kind::Array && !items_.empty() && items_[0].is_text(op);
    }
    /// Returns the operator. Empty if the first element is not a string.
    std::string_view op() const;
    bool operator==(const Ast& other) const;

private:
    Kind kind_ = Kind::Null;
    union {
        std::int64_t i = 0;
        double d;
    } number_;
    std::string text_;
    std::vector<Ast> items_;
    std::vector<std::string> keys_;
};

/// Reads exactly one JSON document. Throws QueryError: "Json parse error at line 1, column 2: ..".
/// The last of duplicate keys is used.
Ast read_query_json(std::string_view text, std::size_t most = kMaxQueryBytes);

/// Writes compact JSON. If `sorted` is true, keys are sorted, as when PuppetDB serializes values
/// for comparison.
void write_json(const Ast& ast, std::string& out, bool sorted = false);
std::string to_json(const Ast& ast, bool sorted = false);
/// Formats the value as Clojure prints it in messages: ["=" "name" nil].
std::string to_clojure(const Ast& ast);

}  // namespace bunraku::query

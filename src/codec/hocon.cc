#include "codec/hocon.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_map>

#include "codec/hocon_tokens.h"

namespace bunraku::codec {
namespace {

using hocon::Token;
using Kind = Token::Kind;
using Path = std::vector<std::string>;

constexpr int kMaxDepth = 200;
constexpr int kMaxSteps = 2'000'000;
constexpr std::size_t kMaxMade = 1'000'000;

/// What a text says before its substitutions are known.
struct Node {
    enum class Kind { Plain, Blank, Array, Object, Reference, Concatenation };
    struct Field {
        std::string key;
        std::vector<std::shared_ptr<Node>> stack;  ///< every value given, the newest last
    };
    Kind kind = Kind::Plain;
    int line = 1;
    YamlNode value;    ///< Plain
    std::string text;  ///< Plain: as written
    Path path;         ///< Reference
    bool optional = false;
    std::vector<std::shared_ptr<Node>> items;  ///< of an array or a concatenation
    std::vector<Field> fields;

    Field& field(const std::string& key) {
        for (auto& f : fields) {
            if (f.key == key) return f;
        }
        fields.push_back({key, {}});
        return fields.back();
    }
    const Field* find(const std::string& key) const {
        for (const auto& f : fields) {
            if (f.key == key) return &f;
        }
        return nullptr;
    }
};
using NodePtr = std::shared_ptr<Node>;

struct Failure {
    std::string message;
};

[[noreturn]] void fail(int line, std::string_view message) {
    throw Failure{fmt::format("String: {}: {}", line, message)};
}

NodePtr make(Node::Kind kind, int line) {
    auto n = std::make_shared<Node>();
    n->kind = kind;
    n->line = line;
    return n;
}

/// `key = value` behind what the key has already: objects grow together, everything else hides what
/// came before, but substitutions may still look back at it.
void give(Node::Field& field, NodePtr value);

void merge_object(Node& into, const Node& from) {
    // As in Ruby's hocon the newer object's keys come first.
    Node merged;
    for (const auto& f : from.fields) {
        Node::Field& field = merged.field(f.key);
        if (const auto* old = into.find(f.key)) field.stack = old->stack;
        for (const auto& v : f.stack) give(field, v);
    }
    for (auto& f : into.fields) {
        if (!from.find(f.key)) merged.fields.push_back(f);
    }
    into.fields = std::move(merged.fields);
}

void give(Node::Field& field, NodePtr value) {
    if (!field.stack.empty() && value->kind == Node::Kind::Object &&
        field.stack.back()->kind == Node::Kind::Object) {
        auto merged = std::make_shared<Node>(*field.stack.back());
        merge_object(*merged, *value);
        field.stack.back() = std::move(merged);
        return;
    }
    field.stack.push_back(std::move(value));
}

class Parser {
public:
    Parser(std::string_view text, int depth) : tokens_(hocon::tokenize(text)), depth_(depth) {}

    NodePtr document() {
        Token* t = &next_skipping();
        NodePtr root;
        if (t->kind == Kind::OpenCurly) {
            root = object(true, 0);
        } else if (t->kind == Kind::OpenSquare) {
            array(0);
            fail(t->line, " has type LIST rather than object at file root");
        } else {
            --at_;
            root = object(false, 0);
        }
        t = &next_skipping();
        if (t->kind != Kind::End) {
            fail(t->line,
                 fmt::format("Document has trailing tokens after first object or array: {}",
                             t->shown()));
        }
        return root;
    }

private:
    Token& next() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
    Token& next_skipping() {
        while (true) {
            Token& t = next();
            if (t.kind != Kind::IgnoredBlank && t.kind != Kind::Comment && t.kind != Kind::Newline)
                return t;
        }
    }
    /// A comma or the end of a line between elements.
    bool separator() {
        bool line = false;
        while (true) {
            Token& t = next();
            if (t.kind == Kind::Comma) return true;
            if (t.kind == Kind::Newline) {
                line = true;
            } else if (t.kind != Kind::IgnoredBlank && t.kind != Kind::Comment) {
                --at_;
                return line;
            }
        }
    }

    static std::string suggested(const Token& t, const std::string& message) {
        if (t.kind == Kind::End) return message;
        return fmt::format(
            "{} (if you intended {} to be part of a key or string value, try enclosing the key or "
            "value in double quotes",
            message, t.shown());
    }

    static bool starts_value(const Token& t) {
        return t.simple() || t.kind == Kind::OpenCurly || t.kind == Kind::OpenSquare;
    }

    /// A path of tokens: quoted ones are elements, others are split at their dots.
    static Path path(const std::vector<Token>& tokens, int line) {
        Path out;
        std::string element;
        bool any = false, can_be_empty = false;
        auto flush = [&] {
            if (element.empty() && !can_be_empty) {
                throw Failure{
                    "path has a leading, trailing, or two adjacent period '.' (use quoted \"\" "
                    "empty string if you want an empty element)"};
            }
            out.push_back(std::move(element));
            element.clear();
            can_be_empty = false;
        };
        for (const Token& t : tokens) {
            if (t.kind == Kind::IgnoredBlank) continue;
            any = true;
            if (t.kind == Kind::Value && t.quoted) {
                element += t.value.text;
                can_be_empty = true;
                continue;
            }
            if (t.kind != Kind::Value && t.kind != Kind::Unquoted) {
                throw Failure{fmt::format(
                    "String: {}: Token not allowed in path expression: {} (you can double-quote "
                    "this token if you really want it here)",
                    line, t.shown())};
            }
            for (char c : t.text) {
                if (c == '.')
                    flush();
                else
                    element += c;
            }
        }
        if (!any) fail(line, "Expecting a field name or path here, but got nothing");
        flush();
        return out;
    }

    NodePtr value(Token& t, int depth) {
        if (depth > kMaxDepth) fail(t.line, "nested too deeply");
        if (t.kind == Kind::OpenCurly) return object(true, depth + 1);
        if (t.kind == Kind::OpenSquare) return array(depth + 1);
        if (!t.simple())
            fail(t.line, suggested(t, "Expecting a value but got wrong token: " + t.shown()));
        if (t.kind == Kind::Substitution) {
            auto n = make(Node::Kind::Reference, t.line);
            n->optional = t.optional;
            n->text = t.text;
            n->path = path(t.inside, t.line);
            return n;
        }
        auto n = make(Node::Kind::Plain, t.line);
        n->text = t.kind == Kind::Value && t.quoted ? t.value.text : t.text;
        n->value = t.value;
        if (t.kind == Kind::Unquoted) {
            n->value.kind = YamlNode::Kind::String;
            n->value.text = t.text;
            if (t.text.find_first_not_of(" \t\r\f\v") == std::string::npos)
                n->kind = Node::Kind::Blank;
        }
        return n;
    }

    /// One value, or several side by side; null where there is none.
    NodePtr values(int depth) {
        std::vector<NodePtr> parts;
        Token* t = &next_skipping();
        const int line = t->line;
        while (true) {
            if (t->kind == Kind::IgnoredBlank) {
                t = &next();
                continue;
            }
            if (!starts_value(*t)) break;
            parts.push_back(value(*t, depth));
            t = &next();  // not across a line
        }
        --at_;
        if (parts.empty()) return nullptr;
        if (parts.size() == 1) return parts[0];
        auto n = make(Node::Kind::Concatenation, line);
        n->items = std::move(parts);
        return n;
    }

    NodePtr array(int depth) {
        if (depth > kMaxDepth) fail(1, "nested too deeply");
        auto out = make(Node::Kind::Array, 1);
        if (NodePtr first = values(depth)) {
            out->items.push_back(std::move(first));
        } else {
            Token& t = next_skipping();
            if (t.kind == Kind::CloseSquare) return out;
            fail(t.line,
                 fmt::format("List should have ] or a first element after the open [, instead had "
                             "token: {0} (if you want {0} to be part of a string value, then "
                             "double-quote it)",
                             t.shown()));
        }
        while (true) {
            if (!separator()) {
                Token& t = next_skipping();
                if (t.kind == Kind::CloseSquare) return out;
                fail(t.line, fmt::format("List should have ended with ] or had a comma, instead "
                                         "had token: {0} (if you want {0} to be part of a string "
                                         "value, then double-quote it)",
                                         t.shown()));
            }
            if (NodePtr more = values(depth)) {
                out->items.push_back(std::move(more));
                continue;
            }
            Token& t = next_skipping();
            if (t.kind == Kind::CloseSquare) return out;
            fail(t.line, fmt::format("List should have had new element after a comma, instead had "
                                     "token: {0} (if you want the comma or {0} to be part of a "
                                     "string value, then double-quote it)",
                                     t.shown()));
        }
    }

    NodePtr object(bool braces, int depth) {
        if (depth > kMaxDepth) fail(1, "nested too deeply");
        auto out = make(Node::Kind::Object, 1);
        while (true) {
            Token* t = &next_skipping();
            if (t->kind == Kind::CloseCurly) {
                if (!braces)
                    fail(t->line, suggested(*t, "unbalanced close brace '}' with no open brace"));
                return out;
            }
            if (t->kind == Kind::End && !braces) {
                --at_;
                return out;
            }
            if (t->kind == Kind::Unquoted && t->text == "include") {
                include(*out);
            } else {
                member(*out, *t, depth);
            }
            if (separator()) continue;
            t = &next_skipping();
            if (t->kind == Kind::CloseCurly) {
                if (!braces)
                    fail(t->line, suggested(*t, "unbalanced close brace '}' with no open brace"));
                return out;
            }
            if (t->kind == Kind::End && !braces) {
                --at_;
                return out;
            }
            fail(t->line, suggested(*t, "Expecting close brace } or a comma, got " + t->shown()));
        }
    }

    void member(Node& out, const Token& first, int depth) {
        std::vector<Token> key;
        --at_;
        const int line = first.line;
        while (true) {
            Token& t = next();
            if (t.kind != Kind::Value && t.kind != Kind::Unquoted) {
                if (key.empty()) {
                    fail(t.line, fmt::format("expecting a close brace or a field name here, got {}",
                                             t.shown()));
                }
                --at_;
                break;
            }
            key.push_back(t);
        }
        const Path names = path(key, line);
        Token& sign = next_skipping();
        NodePtr v;
        if (sign.kind == Kind::OpenCurly) {
            --at_;
            v = values(depth + 1);
        } else {
            if (sign.kind != Kind::Colon && sign.kind != Kind::Equals &&
                sign.kind != Kind::PlusEquals) {
                std::string shown;
                for (const auto& n : names) shown += (shown.empty() ? "" : ".") + n;
                fail(sign.line,
                     suggested(sign, fmt::format("Key '{}' may not be followed by token: {}", shown,
                                                 sign.shown())));
            }
            v = values(depth + 1);
            if (!v) v = value(next_skipping(), depth + 1);
        }
        if (sign.kind == Kind::PlusEquals) {  // key = ${?key} [value]
            auto self = make(Node::Kind::Reference, line);
            self->path = prefix_;
            self->path.insert(self->path.end(), names.begin(), names.end());
            self->optional = true;
            self->line = line;
            auto list = make(Node::Kind::Array, line);
            list->items.push_back(v);
            v = make(Node::Kind::Concatenation, line);
            v->items = {self, list};
        }
        // a.b.c = v is a { b { c = v } }
        for (std::size_t i = names.size(); i-- > 1;) {
            auto wrapped = make(Node::Kind::Object, line);
            wrapped->field(names[i]).stack.push_back(v);
            v = wrapped;
        }
        give(out.field(names[0]), v);
    }

    /// The next token that says something: blanks beside plain text are tokens of their own.
    Token& next_word() {
        while (true) {
            Token& t = next_skipping();
            if (t.kind != Kind::Unquoted ||
                t.text.find_first_not_of(" \t\r\f\v") != std::string::npos)
                return t;
        }
    }

    void include(Node& out) {
        Token& t = next_word();
        if (t.kind == Kind::Value && t.quoted) return;  // relative to a text: nowhere
        if (t.kind == Kind::Unquoted &&
            (t.text == "url(" || t.text == "file(" || t.text == "classpath(")) {
            Token& name = next_word();
            if (name.kind != Kind::Value || !name.quoted) {
                fail(name.line, fmt::format("expecting a quoted string inside file(), classpath(), "
                                            "or url(), rather than: {}",
                                            name.shown()));
            }
            Token& close = next_word();
            if (close.kind != Kind::Unquoted || !close.text.starts_with(')')) {
                fail(close.line,
                     fmt::format("expecting a close parentheses ')' here, not: {}", close.shown()));
            }
            if (t.text != "file(" || depth_ > 20) return;
            std::ifstream in(name.value.text, std::ios::binary);
            if (!in) return;
            std::ostringstream content;
            content << in.rdbuf();
            Parser inner(content.str(), depth_ + 1);
            const NodePtr root = inner.document();
            for (const auto& f : root->fields) {
                for (const auto& v : f.stack) give(out.field(f.key), v);
            }
            return;
        }
        if (t.kind == Kind::Unquoted) {
            std::string_view text = t.text;
            fail(t.line,
                 fmt::format("expecting include parameter to be quoted filename, file(), "
                             "classpath(), or url(). No spaces are allowed before the open paren. "
                             "Not expecting: '{}'",
                             text));
        }
        fail(t.line, fmt::format("include keyword is not followed by a quoted string, but by: {}",
                                 t.shown()));
    }

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int depth_;
    Path prefix_;
};

/// Answers substitutions: a key's value is the newest that is there, objects grown together with
/// the older ones; a key that asks for itself gets what it had before.
class Resolver {
public:
    explicit Resolver(const NodePtr& root) : root_(root) {}

    YamlNode run() {
        auto v = of(*root_, 0);
        return v ? std::move(*v) : YamlNode();
    }

private:
    using Stack = std::vector<const Node*>;
    using Found = std::optional<YamlNode>;

    void step(int depth) {
        if (depth > kMaxDepth * 2) throw Failure{"Substitutions are nested too deeply"};
        if (++steps_ > kMaxSteps) throw Failure{"Too many substitutions"};
    }

    static std::size_t count(const YamlNode& v) {
        std::size_t n = 1;
        for (const auto& item : v.items) n += count(item);
        for (const auto& e : v.entries) n += 1 + count(e.second);
        return n;
    }
    /// Substitutions multiply what they stand for.
    void spend(const Found& v) {
        if (v) made_ += count(*v);
        if (made_ > kMaxMade) throw Failure{"Substitutions make too much of the text"};
    }

    static const YamlNode* entry(const YamlNode& object, const std::string& key) {
        for (const auto& e : object.entries) {
            if (e.first.text == key) return &e.second;
        }
        return nullptr;
    }

    /// `over` in front of `under`, both objects.
    static YamlNode merged(YamlNode over, const YamlNode& under) {
        for (const auto& e : under.entries) {
            bool known = false;
            for (auto& mine : over.entries) {
                if (mine.first.text != e.first.text) continue;
                known = true;
                if (mine.second.kind == YamlNode::Kind::Mapping &&
                    e.second.kind == YamlNode::Kind::Mapping)
                    mine.second = merged(std::move(mine.second), e.second);
            }
            if (!known) over.entries.push_back(e);
        }
        return over;
    }

    /// The value of a key with all that was given for it.
    Found of(const Stack& stack, int depth) {
        Found out;
        for (std::size_t i = stack.size(); i-- > 0;) {
            Found v = of(*stack[i], depth);
            if (!v) continue;
            if (out) {
                if (v->kind != YamlNode::Kind::Mapping) break;
                out = merged(std::move(*out), *v);
            } else {
                out = std::move(v);
            }
            if (out->kind != YamlNode::Kind::Mapping) break;
        }
        return out;
    }

    static Stack plain(const std::vector<NodePtr>& stack) {
        Stack out;
        for (const auto& n : stack) out.push_back(n.get());
        return out;
    }

    Found of(const Node& n, int depth) {
        step(depth);
        switch (n.kind) {
            case Node::Kind::Plain:
            case Node::Kind::Blank: return n.value;
            case Node::Kind::Array: {
                Working guard(*this, n);
                YamlNode out;
                out.kind = YamlNode::Kind::Sequence;
                for (const auto& item : n.items) {
                    if (Found v = of(*item, depth + 1)) out.items.push_back(std::move(*v));
                }
                return out;
            }
            case Node::Kind::Object: {
                Working guard(*this, n);
                YamlNode out;
                out.kind = YamlNode::Kind::Mapping;
                for (const auto& f : n.fields) {
                    Found v = of(plain(f.stack), depth + 1);
                    if (!v) continue;
                    YamlNode key;
                    key.kind = YamlNode::Kind::String;
                    key.text = f.key;
                    out.entries.push_back({std::move(key), std::move(*v)});
                }
                return out;
            }
            case Node::Kind::Reference: {
                if (auto it = known_.find(&n); it != known_.end()) {
                    spend(it->second);
                    return it->second;
                }
                const bool outer = looked_back_;
                looked_back_ = false;
                Working guard(*this, n);
                Found v = reference(n, depth + 1);
                spend(v);
                if (!looked_back_) known_[&n] = v;
                looked_back_ = looked_back_ || outer;
                return v;
            }
            case Node::Kind::Concatenation: {
                Working guard(*this, n);
                return concatenation(n, depth);
            }
        }
        return std::nullopt;
    }

    /// While a node is at work, who asks for its key gets what stands below it.
    struct Working {
        Resolver& resolver;
        const Node& node;
        bool first;
        Working(Resolver& r, const Node& n)
            : resolver(r), node(n), first(r.working_.insert(&n).second) {}
        ~Working() {
            if (first) resolver.working_.erase(&node);
        }
    };

    static std::string text_of(const Path& path) {
        std::string shown = "${";
        for (std::size_t i = 0; i < path.size(); ++i) shown += (i ? "." : "") + path[i];
        return shown + '}';
    }

    Found reference(const Node& n, int depth) {
        bool cycle = false;
        asked_.push_back(&n);
        struct Pop {
            std::vector<const Node*>& list;
            ~Pop() { list.pop_back(); }
        } pop{asked_};
        Found v = lookup(n.path, depth, cycle);
        if (!v && n.path.size() == 1) {
            if (const char* variable = std::getenv(n.path[0].c_str()); variable && !cycle) {
                YamlNode text;
                text.kind = YamlNode::Kind::String;
                text.text = variable;
                return text;
            }
        }
        if (v || n.optional) return v;
        std::string involved;
        if (cycle) {
            involved = " was part of a cycle of substitutions involving ";
            for (const Node* each : asked_) involved += text_of(each->path) + ", ";
            involved += text_of(asked_.front()->path);
        }
        fail(n.line, fmt::format("Could not resolve substitution to a value: {}{}", text_of(n.path),
                                 involved));
    }

    /// What objects there are along a path, without resolving more of them than needed.
    Found lookup(const Path& path, int depth, bool& cycle) {
        step(depth);
        Stack stack{root_.get()};
        for (std::size_t i = 0; i < path.size(); ++i) {
            Stack expanded;
            for (const Node* n : stack) expand(*n, expanded);
            Stack next;
            bool hidden = false;
            for (std::size_t k = expanded.size(); k-- > 0 && !hidden;) {
                const Node& n = *expanded[k];
                if (n.kind == Node::Kind::Object) {
                    if (const auto* f = n.find(path[i])) {
                        const Stack more = plain(f->stack);
                        next.insert(next.begin(), more.begin(), more.end());
                        // A value that is no object hides what stands below.
                        hidden = more.back()->kind == Node::Kind::Plain ||
                                 more.back()->kind == Node::Kind::Array;
                    }
                } else if (n.kind == Node::Kind::Reference) {
                    if (working_.count(&n)) continue;
                    Found v = of(n, depth + 1);
                    if (!v) continue;
                    if (v->kind != YamlNode::Kind::Mapping) {
                        hidden = true;
                        continue;
                    }
                    if (const YamlNode* e = entry(*v, path[i]))
                        next.insert(next.begin(), keep(*e, n.line));
                } else {
                    hidden = true;
                }
            }
            stack = std::move(next);
            if (stack.empty()) return std::nullopt;
        }
        // What is being worked out, and all above it, is not there yet.
        for (std::size_t k = 0; k < stack.size(); ++k) {
            if (!busy(*stack[k])) continue;
            cycle = true;
            looked_back_ = true;
            stack.resize(k);
            break;
        }
        return of(stack, depth + 1);
    }

    bool busy(const Node& n) const { return working_.count(&n) > 0; }

    /// Objects side by side count as objects one above the other.
    static void expand(const Node& n, Stack& out) {
        if (n.kind == Node::Kind::Concatenation) {
            for (const auto& item : n.items) {
                if (item->kind != Node::Kind::Blank) expand(*item, out);
            }
        } else {
            out.push_back(&n);
        }
    }

    /// A resolved value as a node again.
    const Node* keep(const YamlNode& v, int line) {
        auto n = make(Node::Kind::Plain, line);
        n->value = v;
        n->text = v.text;
        kept_.push_back(n);
        return n.get();
    }

    static std::string text_of(const Node& n, const YamlNode& v) {
        if (n.kind == Node::Kind::Plain || n.kind == Node::Kind::Blank) return n.text;
        switch (v.kind) {
            case YamlNode::Kind::Null: return "null";
            case YamlNode::Kind::Boolean: return v.boolean ? "true" : "false";
            case YamlNode::Kind::Integer: return std::to_string(v.integer);
            case YamlNode::Kind::Float: return fmt::format("{}", v.number);
            default: return v.text;
        }
    }

    Found concatenation(const Node& n, int depth) {
        struct Part {
            YamlNode value;
            std::string text;
            bool blank = false;
        };
        std::vector<Part> parts;
        bool structured = false;
        for (const auto& item : n.items) {
            Found v = of(*item, depth + 1);
            if (!v) continue;
            Part part;
            part.text = text_of(*item, *v);
            part.blank = item->kind == Node::Kind::Blank;
            structured = structured || v->kind == YamlNode::Kind::Sequence ||
                         v->kind == YamlNode::Kind::Mapping;
            part.value = std::move(*v);
            parts.push_back(std::move(part));
        }
        if (structured) std::erase_if(parts, [](const Part& p) { return p.blank; });
        if (parts.empty()) return std::nullopt;
        if (parts.size() == 1 && structured) return std::move(parts[0].value);
        if (!structured) {
            YamlNode out;
            out.kind = YamlNode::Kind::String;
            for (const auto& p : parts) out.text += p.text;
            return out;
        }
        YamlNode out = std::move(parts[0].value);
        for (std::size_t i = 1; i < parts.size(); ++i) {
            YamlNode& more = parts[i].value;
            if (out.kind != more.kind) {
                fail(n.line, fmt::format("Cannot concatenate object or list with a "
                                         "non-object-or-list, {} and {} are not compatible",
                                         shown(out), shown(more)));
            }
            if (out.kind == YamlNode::Kind::Mapping) {
                out = merged(std::move(more), out);
            } else {
                for (auto& item : more.items) out.items.push_back(std::move(item));
            }
        }
        return out;
    }

    static void render(std::string& out, const YamlNode& v) {
        switch (v.kind) {
            case YamlNode::Kind::Sequence:
                out += '[';
                for (std::size_t i = 0; i < v.items.size(); ++i) {
                    if (i) out += ',';
                    render(out, v.items[i]);
                }
                out += ']';
                return;
            case YamlNode::Kind::Mapping:
                out += '{';
                for (std::size_t i = 0; i < v.entries.size(); ++i) {
                    if (i) out += ',';
                    render(out, v.entries[i].first);
                    out += ':';
                    render(out, v.entries[i].second);
                }
                out += '}';
                return;
            case YamlNode::Kind::String: out += '"' + v.text + '"'; return;
            case YamlNode::Kind::Null: out += "null"; return;
            case YamlNode::Kind::Boolean: out += v.boolean ? "true" : "false"; return;
            case YamlNode::Kind::Integer: out += std::to_string(v.integer); return;
            case YamlNode::Kind::Float: out += fmt::format("{}", v.number); return;
        }
    }
    static std::string shown(const YamlNode& v) {
        std::string text;
        render(text, v);
        switch (v.kind) {
            case YamlNode::Kind::Sequence: return "SimpleConfigList(" + text + ")";
            case YamlNode::Kind::Mapping: return "SimpleConfigObject(" + text + ")";
            case YamlNode::Kind::String: return "Quoted(" + text + ")";
            default: return text;
        }
    }

    NodePtr root_;
    std::set<const Node*> working_;
    std::vector<const Node*> asked_;  ///< substitutions being answered
    std::unordered_map<const Node*, Found> known_;
    std::vector<NodePtr> kept_;
    bool looked_back_ = false;
    int steps_ = 0;
    std::size_t made_ = 0;
};

}  // namespace

base::Result<YamlNode> parse_hocon(std::string_view text) {
    try {
        const NodePtr root = Parser(text, 0).document();
        return Resolver(root).run();
    } catch (const Failure& failure) {
        return base::failure(failure.message);
    }
}

}  // namespace bunraku::codec

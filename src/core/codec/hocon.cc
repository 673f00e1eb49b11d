// SPDX-License-Identifier: Apache-2.0
#include "core/codec/hocon.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/codec/hocon_nodes.h"
#include "core/codec/hocon_tokens.h"

namespace bunraku::codec {
namespace hocon {
namespace {

using Kind = Token::Kind;

/// Adds a value to a key. An object merges with earlier objects. Any other value hides the earlier
/// ones, although substitutions may still refer to them.
void add_value(Node::Field& field, NodePtr value) {
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
    Parser(std::string_view text, const HoconContext& context, int depth)
        : tokens_(hocon::tokenize(text)), context_(context), depth_(depth) {}

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
    /// Reads a comma or the end of a line between elements.
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

    /// Returns the path that the tokens form. A quoted token is one element; other tokens are split
    /// at their dots.
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

    /// Reads one value, or several that form a concatenation. Returns null if there is no value.
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
            t = &next();  // does not continue on the next line
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

    /// Reports whether `t` ends the object: a closing brace, or the end of a file whose object has
    /// no braces.
    bool ends_object(const Token& t, bool braces) {
        if (t.kind == Kind::CloseCurly) {
            if (braces) return true;
            fail(t.line, suggested(t, "unbalanced close brace '}' with no open brace"));
        }
        if (t.kind != Kind::End || braces) return false;
        --at_;
        return true;
    }

    NodePtr object(bool braces, int depth) {
        if (depth > kMaxDepth) fail(1, "nested too deeply");
        auto out = make(Node::Kind::Object, 1);
        while (true) {
            Token* t = &next_skipping();
            if (ends_object(*t, braces)) return out;
            if (t->kind == Kind::Unquoted && t->text == "include") {
                include(*out);
            } else {
                member(*out, *t, depth);
            }
            if (separator()) continue;
            t = &next_skipping();
            if (ends_object(*t, braces)) return out;
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
        // a.b.c = v means a { b { c = v } }
        for (std::size_t i = names.size(); i-- > 1;) {
            auto wrapped = make(Node::Kind::Object, line);
            wrapped->field(names[i]).stack.push_back(v);
            v = wrapped;
        }
        add_value(out.field(names[0]), v);
    }

    /// Returns the next token that is not blank. Blanks next to plain text are separate tokens.
    Token& next_non_blank() {
        while (true) {
            Token& t = next_skipping();
            if (t.kind != Kind::Unquoted ||
                t.text.find_first_not_of(" \t\r\f\v") != std::string::npos)
                return t;
        }
    }

    /// Returns the text of an included file.
    std::optional<std::string> included(const std::string& name, bool heuristic) const {
        if (!context_.read) return std::nullopt;
        if (!heuristic) return context_.read(name);
        if (!context_.relative) return std::nullopt;
        if (name.ends_with(".conf") || name.ends_with(".json")) return context_.read(name);
        for (const char* ending : {".json", ".conf"})
            if (auto text = context_.read(name + ending)) return text;
        return std::nullopt;
    }

    void add_file(Node& out, const Token& name, bool heuristic, bool required) {
        if (depth_ > 20) return;
        const auto content = included(name.value.text, heuristic);
        if (!content) {
            if (required) fail(name.line, fmt::format("{} is not there", name.value.text));
            return;
        }
        Parser inner(*content, context_, depth_ + 1);
        const NodePtr root = inner.document();
        for (const auto& f : root->fields) {
            for (const auto& v : f.stack) add_value(out.field(f.key), v);
        }
    }

    void close_parenthesis() {
        Token& close = next_non_blank();
        if (close.kind == Kind::Unquoted && close.text.starts_with(')')) return;
        fail(close.line,
             fmt::format("expecting a close parentheses ')' here, not: {}", close.shown()));
    }

    void include(Node& out) {
        Token* first = &next_non_blank();
        // Ruby's parser does not support required(..).
        const bool required = context_.relative && first->kind == Kind::Unquoted &&
                              first->text.starts_with("required(");
        // "required(file(" is one token.
        std::string opener = first->kind == Kind::Unquoted ? first->text : std::string();
        if (required) {
            opener.erase(0, std::string_view("required(").size());
            if (opener.empty()) first = &next_non_blank();
            if (opener.empty() && first->kind == Kind::Unquoted) opener = first->text;
        }
        Token& t = *first;
        if (t.kind == Kind::Value && t.quoted) {
            add_file(out, t, true, required);
            if (required) close_parenthesis();
            return;
        }
        if (t.kind == Kind::Unquoted &&
            (opener == "url(" || opener == "file(" || opener == "classpath(")) {
            Token& name = next_non_blank();
            if (name.kind != Kind::Value || !name.quoted) {
                fail(name.line, fmt::format("expecting a quoted string inside file(), classpath(), "
                                            "or url(), rather than: {}",
                                            name.shown()));
            }
            Token& close = next_non_blank();
            if (close.kind != Kind::Unquoted || !close.text.starts_with(')')) {
                fail(close.line,
                     fmt::format("expecting a close parentheses ')' here, not: {}", close.shown()));
            }
            if (opener == "file(") add_file(out, name, false, required);
            // "))" may be one token or two.
            if (required && close.text == ")") close_parenthesis();
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
    const HoconContext& context_;
    int depth_;
    Path prefix_;
};

}  // namespace

void merge_object(Node& into, const Node& from) {
    // The newer object's keys come first, as in Ruby's hocon.
    Node merged;
    for (const auto& f : from.fields) {
        Node::Field& field = merged.field(f.key);
        if (const auto* old = into.find(f.key)) field.stack = old->stack;
        for (const auto& v : f.stack) add_value(field, v);
    }
    for (auto& f : into.fields) {
        if (!from.find(f.key)) merged.fields.push_back(f);
    }
    into.fields = std::move(merged.fields);
}

}  // namespace hocon

base::Result<YamlNode> parse_hocon(std::string_view text, const HoconContext& context) {
    try {
        return hocon::resolve(hocon::Parser(text, context, 0).document(), context);
    } catch (const hocon::Failure& failure) {
        return base::failure(failure.message);
    }
}

}  // namespace bunraku::codec

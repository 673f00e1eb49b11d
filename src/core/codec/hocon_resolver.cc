// SPDX-License-Identifier: Apache-2.0
// Resolves the substitutions of HOCON.
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/base/assert.h"
#include "core/codec/hocon_nodes.h"

namespace bunraku::codec::hocon {
namespace {

constexpr int kMaxSteps = 2'000'000;
constexpr std::size_t kMaxMade = 1'000'000;

/// Resolves substitutions. The value of a key is its newest value; objects are merged with the
/// older objects. A key that refers to itself gets its previous value.
class Resolver {
public:
    Resolver(const NodePtr& root, const HoconContext& context) : root_(root), context_(context) {}

    YamlNode run() {
        auto v = of(*root_, 0);
        BUNRAKU_ASSERT(working_.empty() && pending_references_.empty());
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
    /// Limits the total size of the result, because substitutions can repeat large values.
    void spend(const Found& v) {
        if (v) made_ += count(*v);
        if (made_ > kMaxMade) throw Failure{"Substitutions make too much of the text"};
    }

    /// Merges two objects; the keys of `over` win.
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

    /// Returns the value of a key from all values assigned to it.
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
                const bool outer = used_older_value_;
                used_older_value_ = false;
                Working guard(*this, n);
                Found v = reference(n, depth + 1);
                spend(v);
                if (!used_older_value_) known_[&n] = v;
                used_older_value_ = used_older_value_ || outer;
                return v;
            }
            case Node::Kind::Concatenation: {
                Working guard(*this, n);
                return concatenation(n, depth);
            }
        }
        return std::nullopt;
    }

    /// Marks a node as being resolved. A reference to its key then gets the older values.
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
        pending_references_.push_back(&n);
        struct Pop {
            std::vector<const Node*>& list;
            ~Pop() {
                BUNRAKU_ASSERT(!list.empty());
                list.pop_back();
            }
        } pop{pending_references_};
        Found v = lookup(n.path, depth, cycle);
        if (!v && n.path.size() == 1) {
            const auto variable = context_.variable ? context_.variable(n.path[0]) : std::nullopt;
            if (variable && !cycle) {
                YamlNode text;
                text.kind = YamlNode::Kind::String;
                text.text = *variable;
                return text;
            }
        }
        if (v || n.optional) return v;
        std::string involved;
        if (cycle) {
            involved = " was part of a cycle of substitutions involving ";
            for (const Node* each : pending_references_) involved += text_of(each->path) + ", ";
            involved += text_of(pending_references_.front()->path);
        }
        fail(n.line, fmt::format("Could not resolve substitution to a value: {}{}", text_of(n.path),
                                 involved));
    }

    /// Looks up a path, and resolves only the objects that the path needs.
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
                        BUNRAKU_ASSERT(!more.empty());
                        next.insert(next.begin(), more.begin(), more.end());
                        // A value that is not an object hides the older values.
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
                    if (const YamlNode* e = find_member(&*v, path[i]))
                        next.insert(next.begin(), wrap_resolved(*e, n.line));
                } else {
                    hidden = true;
                }
            }
            stack = std::move(next);
            if (stack.empty()) return std::nullopt;
        }
        // Values that are being resolved, and all newer ones, are not available.
        for (std::size_t k = 0; k < stack.size(); ++k) {
            if (!is_being_resolved(*stack[k])) continue;
            cycle = true;
            used_older_value_ = true;
            stack.resize(k);
            break;
        }
        return of(stack, depth + 1);
    }

    bool is_being_resolved(const Node& n) const { return working_.count(&n) > 0; }

    /// Treats concatenated objects as successive values of one key.
    static void expand(const Node& n, Stack& out) {
        if (n.kind == Node::Kind::Concatenation) {
            for (const auto& item : n.items) {
                if (item->kind != Node::Kind::Blank) expand(*item, out);
            }
        } else {
            out.push_back(&n);
        }
    }

    /// Turns a resolved value back into a node.
    const Node* wrap_resolved(const YamlNode& v, int line) {
        auto n = make(Node::Kind::Plain, line);
        n->value = v;
        n->text = v.text;
        resolved_nodes_.push_back(n);
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
        BUNRAKU_ASSERT(parts.size() > 1);
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
    const HoconContext& context_;
    std::set<const Node*> working_;
    std::vector<const Node*> pending_references_;  ///< substitutions that are being resolved
    std::unordered_map<const Node*, Found> known_;
    std::vector<NodePtr> resolved_nodes_;
    bool used_older_value_ = false;
    int steps_ = 0;
    std::size_t made_ = 0;
};

}  // namespace

YamlNode resolve(const NodePtr& root, const HoconContext& context) {
    return Resolver(root, context).run();
}

}  // namespace bunraku::codec::hocon

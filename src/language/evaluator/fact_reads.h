// Which of the node's facts a compile reads: of `$facts['os']['family']` the path of the outermost
// access, "os.family", not all of `os`.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"
#include "language/environment/trace.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// Notes in the trace of the compile (environment::Trace); does nothing where none is kept. A value
/// that came from the facts waits until it is known whether it is only a step to a part of it.
class FactReads {
public:
    FactReads() = default;
    FactReads(const FactReads&) = delete;
    FactReads& operator=(const FactReads&) = delete;
    /// What still waits was read as it is.
    ~FactReads() { flush(); }

    /// The values behind $facts, $trusted and $server_facts, and the variables of top scope that
    /// are made of facts.
    void bind(const value::Value& facts, const value::Value& trusted,
              const value::Value& server_facts, const value::HashRep* variables);

    /// A path that an expression gives the value of.
    struct Path {
        environment::Read kind = environment::Read::Fact;
        std::string text;
    };

    /// A variable was evaluated; `v`: what it is, null where it is not set.
    void variable(const syntax::Node& node, std::string_view name, const value::Value* v) {
        if (environment::Trace::current() != nullptr) [[unlikely]]
            seen(node, name, v);
    }
    /// The path whose value `node` gave just now: taken by who goes on from there, who then gives
    /// it to wait() or note().
    bool take(const syntax::Node* node, Path& path) {
        if (waiting_ == nullptr || waiting_ != node) [[likely]]
            return false;
        waiting_ = nullptr;
        path = std::move(path_);
        return true;
    }
    /// `node` gives the value at `path`.
    void wait(const syntax::Node& node, Path path);
    void note(const Path& path);
    /// For `below`: who was given the value tells what it reads of it.
    static constexpr std::string_view kRecordedLater = "*";
    /// The variable `name` was asked for by code that is no expression, and of its value only what
    /// `below` it says (dotted; "": all).
    void note_variable(std::string_view name, const value::Value* v, std::string_view below);
    /// All facts.
    void note_all() {
        note({environment::Read::Fact, {}});
        note({environment::Read::Trusted, {}});
        note({environment::Read::ServerFact, {}});
    }
    void flush();

    /// `path` with a key of an access: false where the key is none that a path can have.
    static bool append(Path& path, const value::Value& key);

private:
    void seen(const syntax::Node& node, std::string_view name, const value::Value* v);
    bool find(std::string_view name, const value::Value* v, Path& path) const;

    const value::HashRep* facts_ = nullptr;
    const value::HashRep* trusted_ = nullptr;
    const value::HashRep* server_facts_ = nullptr;
    const value::HashRep* variables_ = nullptr;
    const syntax::Node* waiting_ = nullptr;
    Path path_;
};

}  // namespace bunraku::evaluator

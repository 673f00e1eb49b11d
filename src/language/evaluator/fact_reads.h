// SPDX-License-Identifier: Apache-2.0
// Records which of the node's facts a compile reads. For `$facts['os']['family']` this is the path
// of the outermost access, "os.family", and not all of `os`.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"
#include "language/environment/trace.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// Records fact reads in the trace of the compile (environment::Trace). Does nothing if no trace is
/// recorded. The read of a fact value stays pending until the next step shows whether the code only
/// accesses a part of the value.
class FactReads {
public:
    FactReads() = default;
    FactReads(const FactReads&) = delete;
    FactReads& operator=(const FactReads&) = delete;
    /// Records a read that is still pending.
    ~FactReads() { flush(); }

    /// Sets the values of $facts, $trusted and $server_facts, and the variables of the top scope
    /// that are made from facts.
    void bind(const value::Value& facts, const value::Value& trusted,
              const value::Value& server_facts, const value::HashRep* variables);

    /// The path of the value of an expression.
    struct Path {
        environment::Read kind = environment::Read::Fact;
        std::string text;
    };

    /// Called after the evaluation of a variable. `v` is the value, or null if the variable is not
    /// set.
    void variable(const syntax::Node& node, std::string_view name, const value::Value* v) {
        if (environment::Trace::current() != nullptr) [[unlikely]]
            variable_evaluated(node, name, v);
    }
    /// Takes the pending read if it belongs to `node`, and sets `path`. Returns false otherwise.
    /// The caller continues from this path and must pass the result to wait() or note().
    bool take_pending(const syntax::Node* node, Path& path) {
        if (pending_node_ == nullptr || pending_node_ != node) [[likely]]
            return false;
        pending_node_ = nullptr;
        path = std::move(path_);
        return true;
    }
    /// Makes `path` pending: it is the path of the value of `node`.
    void defer_record(const syntax::Node& node, Path path);
    void record_path(const Path& path);
    /// Value for `below`: the code that receives the value records the parts that it reads.
    static constexpr std::string_view kRecordedLater = "*";
    /// Records a read of the variable `name` by code that is not an expression. `below` is the part
    /// of the value that was read, as a dotted path; empty means the whole value.
    void record_variable(std::string_view name, const value::Value* v, std::string_view below);
    /// Records all facts as read.
    void record_all() {
        record_path({environment::Read::Fact, {}});
        record_path({environment::Read::Trusted, {}});
        record_path({environment::Read::ServerFact, {}});
    }
    void flush();

    /// Appends the key of an access to `path`. Returns false if a path cannot contain this key.
    static bool append(Path& path, const value::Value& key);

private:
    void variable_evaluated(const syntax::Node& node, std::string_view name, const value::Value* v);
    bool find(std::string_view name, const value::Value* v, Path& path) const;

    const value::HashRep* facts_ = nullptr;
    const value::HashRep* trusted_ = nullptr;
    const value::HashRep* server_facts_ = nullptr;
    const value::HashRep* variables_ = nullptr;
    const syntax::Node* pending_node_ = nullptr;
    Path path_;
};

}  // namespace bunraku::evaluator

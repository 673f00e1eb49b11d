// SPDX-License-Identifier: Apache-2.0
#include "language/evaluator/fact_reads.h"

#include "core/base/assert.h"

namespace bunraku::evaluator {

using environment::Read;
using environment::Trace;
using value::Value;

namespace {

const value::HashRep* rep(const Value& v) { return v.is_hash() ? &v.as_hash() : nullptr; }

}  // namespace

void FactReads::bind(const Value& facts, const Value& trusted, const Value& server_facts,
                     const value::HashRep* variables) {
    facts_ = rep(facts);
    trusted_ = rep(trusted);
    server_facts_ = rep(server_facts);
    variables_ = variables;
}

/// Sets `path` to the path of the variable's value. Returns false if the value is not part of the
/// facts.
bool FactReads::find(std::string_view name, const Value* v, Path& path) const {
    if (v == nullptr) {
        // The variable is not set, so the compile depends on the absence of a fact of that name.
        if (name.starts_with("::")) name.remove_prefix(2);
        if (name.find("::") != std::string_view::npos) return false;
        path.kind = Read::Fact;
        environment::append_segment(path.text, name);
        return true;
    }
    if (const auto* hash = rep(*v)) {
        if (hash == facts_ || hash == trusted_ || hash == server_facts_) {
            path.kind = hash == facts_     ? Read::Fact
                        : hash == trusted_ ? Read::Trusted
                                           : Read::ServerFact;
            return true;
        }
    }
    if (variables_ == nullptr || variables_->entries.empty()) return false;
    // The address of the value shows whether it is in the table of variables.
    const auto* entry = reinterpret_cast<const char*>(v);
    const auto* begin = reinterpret_cast<const char*>(variables_->entries.data());
    const auto* end = begin + variables_->entries.size_bytes();
    BUNRAKU_ASSERT(begin < end);
    if (entry < begin || entry >= end) return false;
    if (name.starts_with("::")) name.remove_prefix(2);
    path.kind = Read::Fact;
    environment::append_segment(path.text, name);
    return true;
}

void FactReads::variable_evaluated(const syntax::Node& node, std::string_view name,
                                   const Value* v) {
    Path path;
    if (find(name, v, path)) {
        defer_record(node, std::move(path));
    } else if (pending_node_ == &node) {
        flush();
    }
}

void FactReads::defer_record(const syntax::Node& node, Path path) {
    flush();
    BUNRAKU_ASSERT(!pending_node_);
    pending_node_ = &node;
    path_ = std::move(path);
}

void FactReads::record_path(const Path& path) { Trace::record(path.kind, path.text); }

void FactReads::record_variable(std::string_view name, const Value* v, std::string_view below) {
    if (Trace::current() == nullptr) return;
    Path path;
    if (!find(name, v, path)) return;
    // Only $facts and $trusted themselves are passed to code that records its own reads.
    if (below == kRecordedLater && path.text.empty() && path.kind != Read::ServerFact) return;
    if (below == kRecordedLater) below = {};
    if (!below.empty()) {
        if (!path.text.empty()) path.text += '.';
        path.text += below;
    }
    record_path(path);
}

void FactReads::flush() {
    if (pending_node_ == nullptr) return;
    pending_node_ = nullptr;
    record_path(path_);
}

bool FactReads::append(Path& path, const Value& key) {
    if (key.is_string()) {
        environment::append_segment(path.text, key.as_string());
        return true;
    }
    if (!key.is_integer()) return false;
    environment::append_segment(path.text, std::to_string(key.as_integer()));
    return true;
}

}  // namespace bunraku::evaluator

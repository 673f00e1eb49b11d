#include "language/evaluator/fact_reads.h"

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

/// The path of what the variable holds, where it comes from the facts.
bool FactReads::find(std::string_view name, const Value* v, Path& path) const {
    if (v == nullptr) {
        // A fact of that name would have answered.
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
    // The value itself tells whether it is one of theirs.
    const auto* entry = reinterpret_cast<const char*>(v);
    const auto* begin = reinterpret_cast<const char*>(variables_->entries.data());
    const auto* end = begin + variables_->entries.size_bytes();
    if (entry < begin || entry >= end) return false;
    if (name.starts_with("::")) name.remove_prefix(2);
    path.kind = Read::Fact;
    environment::append_segment(path.text, name);
    return true;
}

void FactReads::seen(const syntax::Node& node, std::string_view name, const Value* v) {
    Path path;
    if (find(name, v, path)) {
        wait(node, std::move(path));
    } else if (waiting_ == &node) {
        flush();
    }
}

void FactReads::wait(const syntax::Node& node, Path path) {
    flush();
    waiting_ = &node;
    path_ = std::move(path);
}

void FactReads::note(const Path& path) { Trace::record(path.kind, path.text); }

void FactReads::note_variable(std::string_view name, const Value* v, std::string_view below) {
    if (Trace::current() == nullptr) return;
    Path path;
    if (!find(name, v, path)) return;
    // Only $facts and $trusted themselves are handed out so that their readers tell.
    if (below == kRecordedLater && path.text.empty() && path.kind != Read::ServerFact) return;
    if (below == kRecordedLater) below = {};
    if (!below.empty()) {
        if (!path.text.empty()) path.text += '.';
        path.text += below;
    }
    note(path);
}

void FactReads::flush() {
    if (waiting_ == nullptr) return;
    waiting_ = nullptr;
    note(path_);
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

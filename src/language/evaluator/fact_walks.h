// Hashes of facts that a block walks or a variable holds: what counts is what their readers read.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "core/value/value.h"
#include "language/evaluator/fact_reads.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// Belongs to one interpreter; all of it is empty while no trace is recorded.
class FactWalks {
public:
    /// A block walks `hash`, which is at `path`, by key and value. Values that are no hashes count
    /// at once.
    void iterate(FactReads& reads, const FactReads::Path& path, const value::HashRep& hash);
    /// Variables hold `hash`, which is at `path`, or some of its entries, of which it is known
    /// which.
    void add_part(FactReads& reads, const FactReads::Path& path, const value::HashRep& hash);
    /// A variable was evaluated to `v`: if that is a part of a fact, its reader counts.
    void variable(FactReads& reads, const syntax::Node& node, const value::Value& v) const {
        if (!parts_.empty() && v.is_hash()) [[unlikely]]
            if (const auto* path = find(v)) reads.wait(node, *path);
    }
    /// The path of a value that is a part of a fact; null if it is none.
    const FactReads::Path* find(const value::Value& v) const;

    /// Nobody uses what `body` gives in the end.
    void discard(const syntax::Node* body);
    bool is_discarded(const syntax::Node& node) const { return discarded_.contains(&node); }

private:
    std::unordered_map<const value::HashRep*, FactReads::Path> parts_;
    std::unordered_set<const syntax::Node*> discarded_;
};

}  // namespace bunraku::evaluator

// SPDX-License-Identifier: Apache-2.0
// Hashes of facts that a block iterates over or a variable holds. Only the parts that later code
// reads are recorded.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "core/value/value.h"
#include "language/evaluator/fact_reads.h"
#include "language/syntax/ast.h"

namespace bunraku::evaluator {

/// The fact hashes of one interpreter. It is empty if no trace is recorded.
class FactWalks {
public:
    /// Registers that a block iterates over the keys and values of `hash`, which is at `path`.
    /// Values that are not hashes are recorded as read immediately.
    void iterate(FactReads& reads, const FactReads::Path& path, const value::HashRep& hash);
    /// Registers that variables hold `hash`, which is at `path`, or some of its entries. In the
    /// latter case the selection of entries is already recorded.
    void add_part(FactReads& reads, const FactReads::Path& path, const value::HashRep& hash);
    /// Called after a variable was evaluated to `v`. If `v` is part of a fact, its read becomes
    /// pending.
    void variable(FactReads& reads, const syntax::Node& node, const value::Value& v) const {
        if (!parts_.empty() && v.is_hash()) [[unlikely]]
            if (const auto* path = find(v)) reads.defer_record(node, *path);
    }
    /// Returns the path of a value that is part of a fact, or null if it is not.
    const FactReads::Path* find(const value::Value& v) const;

    /// Registers that no code uses the value of `body`.
    void discard(const syntax::Node* body);
    bool is_discarded(const syntax::Node& node) const { return discarded_.contains(&node); }

private:
    std::unordered_map<const value::HashRep*, FactReads::Path> parts_;
    std::unordered_set<const syntax::Node*> discarded_;
};

}  // namespace bunraku::evaluator

// SPDX-License-Identifier: Apache-2.0
#include "language/evaluator/fact_walks.h"

#include "core/base/assert.h"
#include "language/environment/read_answer.h"

namespace bunraku::evaluator {

using environment::Trace;
using value::Value;

const FactReads::Path* FactWalks::find(const Value& v) const {
    if (parts_.empty() || !v.is_hash()) return nullptr;
    const auto it = parts_.find(&v.as_hash());
    return it == parts_.end() ? nullptr : &it->second;
}

void FactWalks::add_part(FactReads& reads, const FactReads::Path& path,
                         const value::HashRep& hash) {
    const auto [it, fresh] = parts_.try_emplace(&hash, path);
    BUNRAKU_ASSERT(it->first == &hash);
    // The same hash occurs at two paths. A later read cannot be assigned to one of them, so this
    // path is recorded now.
    if (!fresh && (it->second.kind != path.kind || it->second.text != path.text))
        reads.record_path(path);
}

void FactWalks::iterate(FactReads& reads, const FactReads::Path& path, const value::HashRep& hash) {
    FactReads::Path keys = path;
    environment::append_segment(keys.text, environment::kKeysSegment);
    reads.record_path(keys);
    for (const auto& e : hash) {
        FactReads::Path part = path;
        if (!FactReads::append(part, e.key)) return reads.record_path(path);
        if (e.value.is_hash() && e.value.as_hash().size() > 0) {
            add_part(reads, part, e.value.as_hash());
        } else {
            reads.record_path(part);
        }
    }
}

void FactWalks::discard(const syntax::Node* body) {
    using namespace syntax;
    if (body == nullptr || Trace::current() == nullptr) return;
    if (const auto* block = as<BlockExpression>(body)) {
        if (!block->statements.empty()) discard(block->statements.back());
    } else if (const auto* choice = as<IfExpression>(body)) {
        discard(choice->then_expr);
        discard(choice->else_expr);
    } else if (const auto* unless = as<UnlessExpression>(body)) {
        discard(unless->then_expr);
        discard(unless->else_expr);
    } else if (const auto* cases = as<CaseExpression>(body)) {
        for (const auto* option : cases->options) discard(option->then_expr);
    } else if (body->kind == NodeKind::AssignmentExpression ||
               body->kind == NodeKind::CallMethodExpression ||
               body->kind == NodeKind::CallNamedFunctionExpression) {
        discarded_.insert(body);
    }
}

}  // namespace bunraku::evaluator

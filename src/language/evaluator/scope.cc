// SPDX-License-Identifier: Apache-2.0
#include "language/evaluator/scope.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::evaluator {

namespace {
constexpr std::uint32_t kLinear = 16;
}

const Value* Scope::find_indexed(Symbol variable) const {
    BUNRAKU_ASSERT(index_ && size_ <= index_mask_);
    for (std::uint32_t i = static_cast<std::uint32_t>(variable.hash()) & index_mask_;;
         i = (i + 1) & index_mask_) {
        const std::uint32_t at = index_[i];
        if (at == 0) return nullptr;
        BUNRAKU_ASSERT(at <= size_);
        if (slots_[at - 1].name == variable) return &slots_[at - 1].value;
    }
}

const Value* Scope::find_local(std::string_view variable) const {
    if (const Symbol known = Symbol::find(variable))
        if (const Value* v = find_set(known)) return v;
    return given ? given->find(variable) : nullptr;
}

void Scope::grow() {
    const std::uint32_t wanted = capacity_ == 0 ? 4 : capacity_ * 2;
    auto* bigger = static_cast<Slot*>(arena_->allocate(sizeof(Slot) * wanted, alignof(Slot)));
    std::copy(slots_, slots_ + size_, bigger);
    slots_ = bigger;
    capacity_ = wanted;
    BUNRAKU_ASSERT(size_ < capacity_);
}

void Scope::reindex() {
    std::uint32_t slot_count = 64;
    while (slot_count < capacity_ * 2) slot_count *= 2;
    index_ = static_cast<std::uint32_t*>(
        arena_->allocate(sizeof(std::uint32_t) * slot_count, alignof(std::uint32_t)));
    std::fill(index_, index_ + slot_count, 0U);
    index_mask_ = slot_count - 1;
    BUNRAKU_ASSERT((slot_count & index_mask_) == 0 && capacity_ * 2 <= slot_count);
    for (std::uint32_t s = 0; s < size_; ++s) {
        std::uint32_t i = static_cast<std::uint32_t>(slots_[s].name.hash()) & index_mask_;
        while (index_[i] != 0) i = (i + 1) & index_mask_;
        index_[i] = s + 1;
    }
}

void Scope::add_local(Symbol variable, const Value& v) {
    const bool full = size_ == capacity_;
    if (full) grow();
    BUNRAKU_ASSERT(size_ < capacity_);
    slots_[size_++] = {variable, v};
    if (size_ <= kLinear) return;
    if (!index_ || full) {
        reindex();
        return;
    }
    BUNRAKU_ASSERT(size_ <= index_mask_ / 2 + 1);
    std::uint32_t i = static_cast<std::uint32_t>(variable.hash()) & index_mask_;
    while (index_[i] != 0) i = (i + 1) & index_mask_;
    index_[i] = size_;
}

void Scope::set_local(Symbol variable, const Value& v) {
    if (const Value* existing = find_set(variable))
        *const_cast<Value*>(existing) = v;
    else
        add_local(variable, v);
}

std::vector<Symbol> Scope::names() const {
    std::vector<Symbol> out;
    out.reserve(size_);
    for (std::uint32_t i = 0; i < size_; ++i) out.push_back(slots_[i].name);
    return out;
}

void Scope::reset(ScopeKind new_kind, Scope* new_parent) {
    // Other code may still refer to the other kinds of scopes.
    BUNRAKU_ASSERT(kind >= ScopeKind::Function && !retained);
    BUNRAKU_ASSERT(new_kind >= ScopeKind::Function && new_parent && new_parent != this);
    kind = new_kind;
    parent = new_parent;
    dynamic_parent = nullptr;
    name = {};
    host = nullptr;
    given = nullptr;
    match = {};
    has_match = false;
    pending = nullptr;
    size_ = 0;
    index_ = nullptr;
}

}  // namespace bunraku::evaluator

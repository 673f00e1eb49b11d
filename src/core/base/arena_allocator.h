// SPDX-License-Identifier: Apache-2.0
// An allocator that lets standard containers use an arena.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "core/base/arena.h"

namespace bunraku::base {

/// Allocates the memory of standard containers from an arena. A container that grows leaves its old
/// memory unused, and its destructor frees nothing. Objects that own only such containers need not
/// be destroyed.
template <class T>
class ArenaAllocator {
public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    explicit ArenaAllocator(Arena& arena) : arena_(&arena) {}
    template <class U>
    ArenaAllocator(const ArenaAllocator<U>& other) : arena_(other.arena()) {}

    T* allocate(std::size_t n) {
        return static_cast<T*>(arena_->allocate(n * sizeof(T), alignof(T)));
    }
    void deallocate(T*, std::size_t) noexcept {}
    Arena* arena() const { return arena_; }
    template <class U>
    bool operator==(const ArenaAllocator<U>& other) const {
        return arena_ == other.arena();
    }

private:
    Arena* arena_;
};

template <class T>
using ArenaVector = std::vector<T, ArenaAllocator<T>>;

}  // namespace bunraku::base

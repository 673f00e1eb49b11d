// SPDX-License-Identifier: Apache-2.0
// A bump allocator. Its objects are released together with it, without destructor calls.
#pragma once

#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bunraku::base {

/// Memory for one compile, one syntax tree or one snapshot. Not thread safe.
class Arena {
public:
    /// Allocating more than `most` bytes throws std::bad_alloc; use it for untrusted input.
    explicit Arena(std::size_t first_block = 16 * 1024,
                   std::size_t most = std::numeric_limits<std::size_t>::max())
        : next_block_(first_block), most_(most) {}
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    /// Returns uninitialised bytes, aligned to `align` (a power of two).
    void* allocate(std::size_t size, std::size_t align = alignof(std::max_align_t)) {
        auto at = (reinterpret_cast<std::uintptr_t>(cursor_) + align - 1) & ~(align - 1);
        if (at + size > reinterpret_cast<std::uintptr_t>(end_)) return allocate_slow(size, align);
        cursor_ = reinterpret_cast<char*>(at + size);
        return reinterpret_cast<void*>(at);
    }

    /// Makes an object whose destructor never runs. The object must not own anything outside the
    /// arena.
    template <class T, class... Args>
    T* make(Args&&... args) {
        static_assert(std::is_trivially_destructible_v<T>, "use own() for types with a destructor");
        return new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
    }

    /// Takes over an object that needs its destructor. The destructor runs when the arena is
    /// destroyed.
    template <class T>
    T* own(std::unique_ptr<T> object) {
        T* raw = object.release();
        owned_.push_back({raw, [](void* p) { delete static_cast<T*>(p); }});
        return raw;
    }

    /// Returns a value-initialised array of `n` elements.
    template <class T>
    std::span<T> array(std::size_t n) {
        static_assert(std::is_trivially_destructible_v<T>);
        if (n == 0) return {};
        T* p = static_cast<T*>(allocate(sizeof(T) * n, alignof(T)));
        for (std::size_t i = 0; i < n; ++i) new (p + i) T();
        return {p, n};
    }

    /// Returns a copy of a contiguous range.
    template <class T>
    std::span<T> copy(std::span<const T> from) {
        static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
        if (from.empty()) return {};
        T* p = static_cast<T*>(allocate(sizeof(T) * from.size(), alignof(T)));
        std::memcpy(static_cast<void*>(p), from.data(), sizeof(T) * from.size());
        return {p, from.size()};
    }
    template <class T>
    std::span<T> copy(const std::vector<T>& from) {
        return copy(std::span<const T>(from));
    }

    /// Returns a NUL-terminated copy of the text. The view does not include the NUL.
    std::string_view copy(std::string_view text);

    /// Number of bytes allocated from the system so far.
    std::size_t bytes() const { return bytes_; }

private:
    struct Owned {
        void* object;
        void (*destroy)(void*);
    };
    void* allocate_slow(std::size_t size, std::size_t align);

    char* cursor_ = nullptr;
    char* end_ = nullptr;
    std::size_t next_block_;
    std::size_t bytes_ = 0;
    std::size_t most_;
    std::vector<std::unique_ptr<char[]>> blocks_;
    std::vector<Owned> owned_;
};

}  // namespace bunraku::base

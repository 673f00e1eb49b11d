// SPDX-License-Identifier: Apache-2.0
// Interned names, for names that are compared often: equal names have the same pointer.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace bunraku::base {

/// An interned name. It is never freed, is cheap to copy and compare, and may be shared between
/// threads.
class Symbol {
public:
    constexpr Symbol() = default;
    /// Returns the symbol for `name`, which it creates if necessary.
    static Symbol intern(std::string_view name);
    /// Returns the symbol for `name`, or the empty symbol if the name is not interned.
    static Symbol find(std::string_view name);

    std::string_view view() const {
        return rep_ ? std::string_view(rep_->text, rep_->size) : std::string_view();
    }
    explicit operator bool() const { return rep_ != nullptr; }
    std::uint64_t hash() const { return rep_ ? rep_->hash : 0; }
    friend bool operator==(Symbol a, Symbol b) { return a.rep_ == b.rep_; }

private:
    struct Rep {
        const char* text;
        std::uint32_t size;
        std::uint64_t hash;
    };
    explicit constexpr Symbol(const Rep* rep) : rep_(rep) {}
    friend class SymbolTable;
    const Rep* rep_ = nullptr;
};

}  // namespace bunraku::base

template <>
struct std::hash<bunraku::base::Symbol> {
    std::size_t operator()(bunraku::base::Symbol s) const noexcept { return s.hash(); }
};

// Names that are compared often are interned: equal names are the same pointer.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace bunraku::base {

/// An interned name. Immortal, cheap to copy and compare, safe between threads.
class Symbol {
public:
    constexpr Symbol() = default;
    /// The one symbol for `name`; makes it where it is new.
    static Symbol intern(std::string_view name);
    /// The symbol for `name`, or the empty one where nobody has interned it.
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

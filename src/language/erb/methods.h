// SPDX-License-Identifier: Apache-2.0
// Method tables: the name of each method, its arguments and block, and the function that implements
// it.
#pragma once

#include <array>
#include <initializer_list>

#include "language/erb/render.h"

namespace bunraku::erb {

/// A method call. Each class derives its own, with the methods as member functions.
struct Renderer::Call {
    Renderer& renderer;
    Heap& heap;
    const RV& self;
    M method;
    Args args;
    const Block* block;

    Call(Renderer& r, const RV& of, M m, Args a, const Block* b)
        : renderer(r), heap(r.heap_), self(of), method(m), args(a), block(b) {}

    RV str(std::string_view text) const { return heap.string(text); }
    bool yield1(const RV& v, RV& out) const { return renderer.yield1(*block, v, out); }
    bool yield2(const RV& a, const RV& b, RV& out) const {
        return renderer.yield2(*block, a, b, out);
    }
    RV unknown() { renderer.unknown(self, method); }
};

enum class Blocks : std::uint8_t { None, Needed, Allowed };

/// A table of methods, indexed by the method's number.
template <class C>
class MethodTable {
public:
    struct Row {
        M names[4];
        /// One letter per argument: s String, i Integer, a Array, h Hash, r Regexp, v any.
        /// Arguments after '?' are optional. "*" is any number of arguments of any type.
        std::string_view takes;
        Blocks block;
        RV (C::*run)();
    };
    constexpr MethodTable(std::initializer_list<Row> rows) {
        for (const Row& row : rows)
            for (const M name : row.names)
                if (name != M::none_such) rows_[static_cast<std::size_t>(name)] = row;
    }
    const Row* find(M method) const {
        const Row& row = rows_[static_cast<std::size_t>(method)];
        return row.run ? &row : nullptr;
    }
    /// A call that does not match the row counts as unknown.
    RV run(const Row& row, C& call) const {
        if ((row.block == Blocks::Needed && !call.block) ||
            (row.block == Blocks::None && call.block) || !fits(row.takes, call.args)) {
            return call.unknown();
        }
        return (call.*row.run)();
    }
    RV run(C& call) const {
        const Row* row = find(call.method);
        return row ? run(*row, call) : call.unknown();
    }

private:
    static bool fits(std::string_view takes, Args args) {
        if (takes == "*") return true;
        std::size_t n = 0;
        bool optional = false;
        for (const char c : takes) {
            if (c == '?') {
                optional = true;
                continue;
            }
            if (n == args.size()) return optional;
            const RV& v = args[n++];
            const bool is = c == 's'   ? v.is(T::Str)
                            : c == 'i' ? v.is(T::Int)
                            : c == 'a' ? v.is(T::Array)
                            : c == 'h' ? v.is(T::Hash)
                            : c == 'r' ? v.is(T::Regex)
                                       : true;
            if (!is) return false;
        }
        return n == args.size();
    }

    std::array<Row, static_cast<std::size_t>(M::op_neg) + 1> rows_{};
};

}  // namespace bunraku::erb

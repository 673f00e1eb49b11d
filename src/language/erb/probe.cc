// SPDX-License-Identifier: Apache-2.0
#include "language/erb/probe.h"

#include <algorithm>
#include <cctype>

#include "language/erb/ast.h"
#include "language/erb/render.h"

namespace bunraku::erb {

namespace {

/// Same as Puppet::Util::Package#versioncmp.
int compare_versions(std::string_view a, std::string_view b) {
    const auto next = [](std::string_view& s) {
        std::size_t n = 0;
        const auto kind = [](char c) {
            return std::isdigit(static_cast<unsigned char>(c)) ? 1 : c == '.' || c == '-' ? 2 : 3;
        };
        if (!s.empty() && kind(s[0]) == 2)
            n = 1;
        else
            while (n < s.size() && kind(s[n]) == kind(s[0])) ++n;
        const auto part = s.substr(0, n);
        s.remove_prefix(n);
        return part;
    };
    const std::string_view whole_a = a, whole_b = b;
    while (!a.empty() && !b.empty()) {
        const auto x = next(a), y = next(b);
        if (x == y) continue;
        for (const std::string_view sign : {"-", "."}) {
            if (x == sign) return -1;
            if (y == sign) return 1;
        }
        const bool digits = std::isdigit(static_cast<unsigned char>(x[0])) &&
                            std::isdigit(static_cast<unsigned char>(y[0]));
        if (digits && x[0] != '0' && y[0] != '0') {
            // Without leading zeros the longer number is greater, whatever its size.
            if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
            return x < y ? -1 : 1;
        }
        const int c = x.compare(y);
        return c < 0 ? -1 : c > 0;
    }
    const int c = whole_a.compare(whole_b);
    return c < 0 ? -1 : c > 0;
}

class ProbeRenderHost final : public RenderHost {
public:
    ProbeRenderHost(const Value& variables, base::Arena& arena)
        : variables_(variables), arena_(arena) {}

    std::optional<Value> variable(base::Symbol name, std::string_view) override {
        return lookup(name.view(), {});
    }
    void read_again(base::Symbol, std::string_view) override {}
    std::optional<Value> lookup(std::string_view name, std::string_view) override {
        const Value* found = variables_.is_hash() ? variables_.as_hash().find(name) : nullptr;
        return found ? std::optional(*found) : std::nullopt;
    }
    Value variables() override { return variables_; }
    Value call_function(std::string_view name, std::span<const Value> args, bool) override {
        if (name != "versioncmp" || args.size() != 2 || !args[0].is_string() ||
            !args[1].is_string())
            fall_back("a function");
        return Value::integer(compare_versions(args[0].as_string(), args[1].as_string()));
    }
    base::Arena& arena() override { return arena_; }
    std::string_view file() override { return {}; }

private:
    const Value& variables_;
    base::Arena& arena_;
};

}  // namespace

Probe probe(const std::string& source, const value::Value& variables, base::Arena& arena) {
    Probe out;
    const auto program = parse(source, out.reason);
    if (!program) return out;
    out.parsed = true;
    ProbeRenderHost host(variables, arena);
    Shared shared;
    try {
        out.text = Renderer(*program, host, shared).run();
    } catch (const Fallback& fallback) {
        out.reason = fallback.reason;
        out.detail = fallback.detail;
    }
    return out;
}

}  // namespace bunraku::erb

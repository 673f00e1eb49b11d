// SPDX-License-Identifier: Apache-2.0
#include "services/load/machine.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "services/load/rng.h"

namespace bunraku::load {

using value::Value;

base::Result<FactChoice> FactChoice::parse(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0)
        return base::failure(
            fmt::format("Invalid fact choice '{}': expected PATH=VALUE|VALUE", text));
    FactChoice out;
    for (const auto part : base::words(text.substr(0, equals), ".")) out.path.emplace_back(part);
    auto values = text.substr(equals + 1);
    for (std::size_t bar = 0; bar != std::string_view::npos;) {
        bar = values.find('|');
        out.values.emplace_back(values.substr(0, bar));
        if (bar != std::string_view::npos) values.remove_prefix(bar + 1);
    }
    if (out.path.empty())
        return base::failure(fmt::format("Invalid fact choice '{}': no fact before '='", text));
    BUNRAKU_ASSERT(!out.path.empty() && !out.values.empty());
    return out;
}

namespace {

class SimulatedFacts {
public:
    SimulatedFacts(base::Arena& arena, const MachineState& state)
        : arena_(arena), state_(state), dot_(state.name.find('.')) {}

    Value of(const Value& v, std::string_view key) {
        if (v.is_hash()) {
            value::HashBuilder out(arena_, v.as_hash().size());
            for (const value::Entry& e : v.as_hash())
                out.set(e.key, of(e.value, e.key.is_string() ? e.key.as_string() : key));
            return out.build();
        }
        if (v.is_array()) {
            std::vector<Value> items;
            for (const Value& item : v.as_array()) items.push_back(of(item, key));
            return value::make_array(arena_, items);
        }
        if (v.is_string()) return text(v, key);
        if (v.is_integer() && key.ends_with("uptime_seconds"))
            return Value::integer(state_.uptime_seconds);
        if (v.is_integer() && (key == "available_bytes" || key == "used_bytes"))
            return Value::integer(v.as_integer() - state_.uptime_seconds % 4096 * 1024);
        return v;
    }

private:
    /// Returns a number specific to this machine; the same argument always gives the same number.
    std::uint64_t own(std::uint64_t what) const {
        return Rng(state_.number * 0x10001 + what).next();
    }
    Value make(std::string_view text) { return value::make_string(arena_, text); }

    Value text(const Value& v, std::string_view key) {
        const std::string_view name = state_.name;
        const auto known = v.as_string();
        if (key == "fqdn" || key == "clientcert" || key == "certname") return make(name);
        if (key == "hostname") return make(name.substr(0, dot_));
        if (key == "domain") return dot_ == std::string::npos ? v : make(name.substr(dot_ + 1));
        if (key == "ip" || key == "address" || key.starts_with("ipaddress")) {
            if (known.starts_with("127.") || known.starts_with("::1") || known.empty()) return v;
            const auto n = state_.number + 1;
            return known.find(':') == std::string_view::npos
                       ? make(fmt::format("10.{}.{}.{}", n >> 16 & 255, n >> 8 & 255, n & 255))
                       : make(fmt::format("fd00::{:x}:{:x}", n >> 16 & 0xffff, n & 0xffff));
        }
        if (key == "mac" || key.starts_with("macaddress")) {
            const auto n = own(1);
            return make(fmt::format("02:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", n & 255, n >> 8 & 255,
                                    n >> 16 & 255, n >> 24 & 255, n >> 32 & 255));
        }
        if (key == "uuid" || key.ends_with("_uuid"))
            return make(
                fmt::format("{:08x}-0000-4000-8000-{:012x}", own(2) & 0xffffffff, state_.number));
        if (key == "serial_number" || key.ends_with("serialnumber"))
            return make(fmt::format("SIM{:09}", state_.number));
        if (key == "uptime")
            return make(fmt::format("{}:{:02} hours", state_.uptime_seconds / 3600,
                                    state_.uptime_seconds / 60 % 60));
        return v;
    }

    base::Arena& arena_;
    const MachineState& state_;
    std::size_t dot_;
};

/// Returns `facts` with `v` at the path. Values on the path that are not hashes are replaced with
/// hashes.
Value with(base::Arena& arena, const Value& facts, const std::vector<std::string>& path,
           std::size_t depth, const Value& v) {
    BUNRAKU_ASSERT(depth <= path.size());
    if (depth == path.size()) return v;
    value::HashBuilder out(arena);
    if (facts.is_hash()) out.merge(facts.as_hash());
    const Value key = value::make_string(arena, path[depth]);
    const Value* below = out.find(key);
    out.set(key, with(arena, below ? *below : Value::undef(), path, depth + 1, v));
    return out.build();
}

}  // namespace

Value machine_facts(base::Arena& arena, const Value& model, const std::vector<FactChoice>& choices,
                    const MachineState& state) {
    Value facts = SimulatedFacts(arena, state).of(model, "");
    for (const auto& choice : choices) {
        BUNRAKU_ASSERT(!choice.values.empty());
        const auto& text = choice.values[(state.number + state.changes) % choice.values.size()];
        auto json = value::parse_json(arena, text);
        facts = with(arena, facts, choice.path, 0, json ? *json : value::make_string(arena, text));
    }
    value::HashBuilder out(arena);
    if (facts.is_hash()) out.merge(facts.as_hash());
    out.set("clientcert", value::make_string(arena, state.name));
    out.set("simulated_changes", Value::integer(static_cast<std::int64_t>(state.changes)));
    return out.build();
}

}  // namespace bunraku::load

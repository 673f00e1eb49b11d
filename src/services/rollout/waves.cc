// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/waves.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/codec/digest.h"

namespace bunraku::rollout {

namespace {

/// Returns a number in [0, 1) that depends on both texts.
double chance(std::string_view seed, std::string_view text) {
    const std::string digest = codec::short_digest(fmt::format("{}\n{}", seed, text), 13);
    const auto number = base::parse_integer<std::uint64_t>(digest, 16);
    BUNRAKU_ASSERT(number);
    return std::ldexp(static_cast<double>(*number), -52);
}

/// Returns the indexes in an order that depends on the seed and on the names only.
std::vector<std::size_t> shuffled(const std::vector<Candidate>& nodes, std::string_view seed) {
    std::vector<std::tuple<double, std::string_view, std::size_t>> keys;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        keys.emplace_back(chance(seed, nodes[i].name), nodes[i].name, i);
    std::ranges::sort(keys);
    std::vector<std::size_t> out;
    for (const auto& [number, name, index] : keys) out.push_back(index);
    return out;
}

std::size_t most_canaries(std::size_t nodes, const Rules& rules) {
    if (rules.canary_limit > 0) return static_cast<std::size_t>(rules.canary_limit);
    return std::max<std::size_t>(1, nodes / 100);
}

}  // namespace

std::vector<std::size_t> choose_canaries(const std::vector<Candidate>& nodes, const Rules& rules,
                                         std::string_view seed) {
    std::vector<std::size_t> out;
    if (!rules.canaries.empty()) {
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (std::ranges::find(rules.canaries, nodes[i].name) != rules.canaries.end())
                out.push_back(i);
        if (!out.empty()) return out;
    }
    // Among nodes that cover equally many new kinds, the first one in this order is taken.
    auto order = shuffled(nodes, seed);
    if (!std::ranges::all_of(nodes, &Candidate::silent))
        std::erase_if(order, [&](std::size_t i) { return nodes[i].silent; });
    std::ranges::stable_partition(order, [&](std::size_t i) { return !nodes[i].late; });
    std::set<std::uint32_t> covered;
    const auto gain = [&](std::size_t position) {
        const auto& kinds = nodes[order[position]].kinds;
        const std::set<std::uint32_t> distinct(kinds.begin(), kinds.end());
        return std::ranges::count_if(distinct, [&](auto kind) { return !covered.contains(kind); });
    };
    // The gain of a node only falls, so a node whose gain is still above the earlier gains of all
    // others is the best one.
    using Entry = std::pair<std::ptrdiff_t, std::ptrdiff_t>;  // gain, and the negative position
    std::priority_queue<Entry> queue;
    for (std::size_t i = 0; i < order.size(); ++i)
        queue.emplace(static_cast<std::ptrdiff_t>(nodes[order[i]].kinds.size()),
                      -static_cast<std::ptrdiff_t>(i));
    while (out.size() < most_canaries(nodes.size(), rules) && !queue.empty()) {
        const std::ptrdiff_t place = queue.top().second;
        queue.pop();
        const auto position = static_cast<std::size_t>(-place);
        const Entry now(gain(position), place);
        if (!queue.empty() && now < queue.top()) {
            queue.push(now);
            continue;
        }
        if (now.first == 0) break;
        out.push_back(order[position]);
        covered.insert(nodes[out.back()].kinds.begin(), nodes[out.back()].kinds.end());
    }
    std::ranges::sort(out);
    return out;
}

std::vector<std::uint32_t> uncovered_kinds(const std::vector<Candidate>& nodes,
                                           const std::vector<std::size_t>& canaries) {
    std::uint32_t most = 0;
    for (const Candidate& node : nodes)
        for (const std::uint32_t kind : node.kinds) most = std::max(most, kind + 1);
    std::vector<bool> missing(most);
    for (const Candidate& node : nodes)
        for (const std::uint32_t kind : node.kinds) missing[kind] = true;
    for (const std::size_t i : canaries)
        for (const std::uint32_t kind : nodes[i].kinds) missing[kind] = false;
    std::vector<std::uint32_t> out;
    for (std::uint32_t kind = 0; kind < most; ++kind)
        if (missing[kind]) out.push_back(kind);
    return out;
}

Waves make_waves(const std::vector<Candidate>& nodes, const std::vector<std::size_t>& canaries,
                 const Rules& rules, std::string_view seed) {
    Waves out{.wave = std::vector<std::int64_t>(nodes.size(), -1), .names = {"canary"}};
    for (const std::size_t i : canaries) out.wave[i] = 0;
    // The members of each stratum are placed at equal distances between 0 and 1, from a start that
    // depends on the stratum. Each section of this line then has its share of each stratum.
    std::map<std::string_view, std::vector<std::size_t>> strata;
    for (const std::size_t i : shuffled(nodes, seed))
        if (out.wave[i] < 0) strata[nodes[i].stratum].push_back(i);
    std::vector<std::tuple<double, std::string_view, std::size_t>> line;
    for (const auto& [stratum, members] : strata) {
        const double start = chance(seed, fmt::format("stratum {}", stratum));
        for (std::size_t j = 0; j < members.size(); ++j) {
            line.emplace_back(
                (static_cast<double>(j) + start) / static_cast<double>(members.size()),
                nodes[members[j]].name, members[j]);
        }
    }
    std::ranges::sort(line);
    std::size_t done = 0;
    for (const double share : rules.waves) {
        const auto end = std::min(
            line.size(),
            static_cast<std::size_t>(std::ceil(share * static_cast<double>(line.size()) - 1e-9)));
        if (end <= done) continue;
        const auto wave = static_cast<std::int64_t>(out.names.size());
        for (; done < end; ++done) out.wave[std::get<2>(line[done])] = wave;
        out.names.push_back(fmt::format("{:g} %", share * 100));
    }
    BUNRAKU_ASSERT(std::ranges::none_of(out.wave, [](auto wave) { return wave < 0; }));
    return out;
}

}  // namespace bunraku::rollout

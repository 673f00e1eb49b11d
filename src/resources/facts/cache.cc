// SPDX-License-Identifier: Apache-2.0
#include "resources/facts/cache.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/value/rich_data.h"

namespace bunraku::facts {

namespace {

constexpr std::string_view kSource = "Facter::CacheManager";
constexpr std::string_view kVersionKey = "cache_format_version";

std::string name_of(std::string_view name, const std::string& file) {
    return std::string(file.empty() ? name : sys::base_name(file));
}

}  // namespace

std::string FactCache::path(const std::string& group) const {
    return sys::join(options_.cache_directory, group);
}

void FactCache::debug(std::string text) {
    log_record(options_.log, base::Level::Debug, kSource, std::move(text));
}

std::vector<Resolved> FactCache::answer(std::vector<FactQuery>& searched) {
    if (options_.conf.ttls.empty() || !options_.cache ||
        !context_.system.files.is_directory(options_.cache_directory)) {
        return {};
    }
    std::vector<Resolved> found;
    std::erase_if(searched, [&](const FactQuery& s) {
        auto facts = answer_one(s);
        if (!facts) return false;
        std::ranges::move(*facts, std::back_inserter(found));
        return true;
    });
    return found;
}

std::optional<std::vector<Resolved>> FactCache::answer_one(const FactQuery& searched) {
    const std::string name = name_of(searched.name, searched.file);
    const auto cache_policy = groups_.cache_policy(name);
    if (!cache_policy) return std::nullopt;
    if (searched.origin == Origin::File && cache_policy->group != name) {
        log_record(
            options_.log, base::Level::Err, kSource,
            fmt::format("Cannot cache '{}' fact from '{}' group. Caching custom group is not "
                        "supported for external facts.",
                        name, cache_policy->group));
        return std::nullopt;
    }
    if (!check_age(cache_policy->group, cache_policy->seconds)) return std::nullopt;
    const auto begin = context_.system.clock.monotonic_ns();
    const Value data = read_group(cache_policy->group);
    if (options_.timing)
        options_.timing(fmt::format("cached fact '{}'", searched.name),
                        static_cast<double>(context_.system.clock.monotonic_ns() - begin) / 1e9);
    if (!data.is_hash()) return std::nullopt;
    if (searched.file.empty()) {
        const Value* version = data.as_hash().find(kVersionKey);
        if (!version || !version->is_integer() || version->as_integer() != 1) {
            debug(
                fmt::format("The fact {} could not be read from the cache, "
                            "cache_format_version is incorrect!",
                            searched.name));
            remove(cache_policy->group);
            return std::nullopt;
        }
        // If the cached group does not contain the fact, remove it so that a new file is written.
        bool known = false;
        for (const auto& e : data.as_hash())
            known = known || value::to_text(e.key).find(searched.name) != std::string::npos;
        if (!known) remove(cache_policy->group);
    }
    debug(fmt::format("loading cached values for {} facts", searched.name));
    std::vector<Resolved> out;
    if (searched.origin == Origin::File) {
        for (const auto& e : data.as_hash()) {
            if (e.key.as_string() == kVersionKey) continue;
            out.push_back({std::string(e.key.as_string()), e.value, Origin::File, searched.query,
                           searched.file});
        }
        return out;
    }
    const Value* value = data.as_hash().find(searched.name);
    if (!value || value->is_undef()) return std::nullopt;
    out.push_back({searched.name, *value, searched.origin, searched.query, {}});
    return out;
}

const Value& FactCache::read_group(const std::string& group) {
    const auto [at, fresh] = read_.try_emplace(group);
    if (!fresh) return at->second;
    if (const auto text = context_.try_read(path(group))) {
        auto data = value::parse_json(context_.arena, *text);
        if (data) {
            at->second = *data;
        } else {
            remove(group);
        }
    }
    return at->second;
}

bool FactCache::check_age(const std::string& group, std::int64_t seconds) {
    if (const auto status = context_.system.files.stat(path(group))) {
        constexpr std::int64_t kSecond = 1'000'000'000;
        const std::int64_t age = context_.system.clock.now_ns() - status->mtime_ns;
        if (age / kSecond < seconds) return true;
        remove(group);
    }
    debug(fmt::format("{} facts cache file expired, missing or is corrupt", group));
    return true;
}

void FactCache::remove(const std::string& group) {
    if (!context_.system.files.exists(path(group))) return;
    const auto removed = context_.system.files.remove(path(group));
    if (!removed && removed.error().code != ENOENT)
        log_record(options_.log, base::Level::Warning, kSource,
                   fmt::format("Could not delete cache: {}", removed.error().message));
}

void FactCache::store(std::span<const Resolved> facts) {
    if (options_.conf.ttls.empty() || !options_.cache) return;
    std::deque<std::pair<std::string, HashBuilder>> groups;  // in the order of their first facts
    for (const Resolved& fact : facts) {
        const std::string name = name_of(fact.name, fact.file);
        const auto group = groups_.group_of(name);
        if (!group || !groups_.cache_policy(name)) continue;
        auto at = std::ranges::find(groups, *group, [](const auto& g) { return g.first; });
        auto& data = at == groups.end()
                         ? groups.emplace_back(*group, HashBuilder(context_.arena)).second
                         : at->second;
        data.set(context_.text(fact.name), fact.value);
    }
    auto& files = context_.system.files;
    BUNRAKU_ASSERT(groups.size() <= facts.size());
    for (auto& [group, data] : groups) {
        BUNRAKU_ASSERT(data.size() > 0);
        const auto seconds = groups_.group_seconds(group);
        if (!seconds || !check_age(group, *seconds)) continue;
        const auto text = context_.try_read(path(group));
        auto before =
            text ? value::parse_json(context_.arena, *text) : base::Result<Value>(Value::undef());
        if (before && before->is_hash() &&
            std::ranges::all_of(data.entries(), [&](const value::Entry& e) {
                return before->as_hash().find(e.key) != nullptr;
            })) {
            continue;
        }
        debug(fmt::format("caching values for {} facts", group));
        data.set(kVersionKey, Value::integer(1));
        auto written = files.make_directories(options_.cache_directory);
        if (written) written = files.write(path(group), value::to_pretty_json(data.build()));
        if (!written) {
            log_record(options_.log, base::Level::Warning, kSource,
                       fmt::format("Could not write cache: {}", written.error().message));
            return;
        }
    }
}

}  // namespace bunraku::facts

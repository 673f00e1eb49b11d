// SPDX-License-Identifier: Apache-2.0
#include "services/agent/fact_limits.h"

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/compatibility.h"

namespace bunraku::agent {

using base::Level;
using value::Value;

namespace {

/// Walks over the values of all facts.
class FactLimits {
public:
    FactLimits(const config::Settings& settings, const LogMessage& log)
        : log_(log),
          name_limit_(limit(settings, "fact_name_length_soft_limit")),
          value_limit_(limit(settings, "fact_value_length_soft_limit")),
          names_facts_(
              config::changed(settings.compatibility(), config::Change::FactLimitWarnings)) {}

    static std::size_t limit(const config::Settings& settings, std::string_view name) {
        const auto value = settings.integer(name);
        return value > 0 ? static_cast<std::size_t>(value) : 0;
    }

    // Puppet counts neither empty hashes nor empty arrays.
    void walk(const Value& fact) {
        if (fact.is_hash()) {
            for (const auto& entry : fact.as_hash()) step(value::to_text(entry.key), entry.value);
        } else if (fact.is_array()) {
            std::size_t index = 0;
            for (const auto& item : fact.as_array()) step(std::to_string(index++), item);
        } else {
            check_name();
            check_value(fact);
            count_++;
        }
    }
    std::size_t count() const { return count_; }

private:
    void step(std::string segment, const Value& fact) {
        path_.push_back(std::move(segment));
        walk(fact);
        path_.pop_back();
    }

    std::string name(std::string_view separator) const {
        return fmt::format("{}", fmt::join(path_, separator));
    }

    void check_name() {
        if (name_limit_ == 0) return;
        // The estimated size of a path in a B-tree index of PostgreSQL.
        std::size_t length = 0;
        for (const auto& segment : path_) length += segment.size();
        const auto size = 8 + 2 * path_.size() + length;
        if (size <= name_limit_) return;
        if (names_facts_)
            warn(fmt::format("Fact {} with length: {} exceeds the fact name length limit: {}",
                             name("."), size, name_limit_));
        else
            warn(fmt::format("Fact {} with length: '{}' exceeds the length limit: {}", name(""),
                             length, name_limit_));
    }

    void check_value(const Value& fact) {
        if (value_limit_ == 0) return;
        const auto text = value::to_text(fact);
        if (text.size() <= value_limit_) return;
        if (names_facts_)
            warn(
                fmt::format("Fact {} with value {} with the value length: {} exceeds the value "
                            "length limit: {}",
                            name("."), text, text.size(), value_limit_));
        else
            warn(
                fmt::format("Fact value '{}' with the value length: '{}' exceeds the value length "
                            "limit: {}",
                            text, text.size(), value_limit_));
    }

    void warn(std::string text) { log_(Level::Warning, std::move(text)); }

    const LogMessage& log_;
    const std::size_t name_limit_;
    const std::size_t value_limit_;
    const bool names_facts_;
    std::size_t count_ = 0;
    std::vector<std::string> path_;
};

}  // namespace

void check_fact_limits(const config::Settings& settings, const Value& facts,
                       const LogMessage& log) {
    const auto top = facts.is_hash() ? facts.as_hash().size() : 0;
    const auto top_limit = FactLimits::limit(settings, "top_level_facts_soft_limit");
    if (top_limit != 0 && top > top_limit)
        log(Level::Warning,
            fmt::format("The current number of top level facts: {} exceeds the top facts "
                        "limit: {}",
                        top, top_limit));
    FactLimits limits(settings, log);
    limits.walk(facts);
    const auto count_limit = FactLimits::limit(settings, "number_of_facts_soft_limit");
    if (count_limit != 0 && limits.count() > count_limit)
        log(Level::Warning,
            fmt::format("The current total number of fact values: {} exceeds the fact values "
                        "limit: {}",
                        limits.count(), count_limit));
    log(Level::Debug, fmt::format("The total number of facts registered is {}", limits.count()));
}

void check_payload_size(const config::Settings& settings, std::size_t size, const LogMessage& log) {
    const auto limit = FactLimits::limit(settings, "payload_soft_limit");
    if (limit == 0) return;
    if (size > limit) {
        const bool quoted =
            !config::changed(settings.compatibility(), config::Change::FactLimitWarnings);
        log(Level::Warning,
            fmt::format("Payload with the current size of: {}{}{} exceeds the payload size "
                        "limit: {}",
                        quoted ? "'" : "", size, quoted ? "'" : "", limit));
    }
    log(Level::Debug, fmt::format("The size of the payload is {}", size));
}

}  // namespace bunraku::agent

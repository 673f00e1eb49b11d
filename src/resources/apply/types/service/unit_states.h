// SPDX-License-Identifier: Apache-2.0
// The states of the units of a catalog's services, from one combined systemctl query.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "resources/apply/resource.h"

namespace bunraku::apply {

/// A cache of unit states. It is valid for a few seconds, or until the run changes the machine.
class UnitStates {
public:
    /// Returns the cache of this run.
    static UnitStates& of(Context& context);

    /// Reports whether the unit of the service is active. Returns nullopt if the unit must be
    /// queried separately.
    std::optional<bool> active(const Resource& service);
    /// Returns the output of `is-enabled`: "enabled", "static", and so on. Returns nullopt if the
    /// unit must be queried separately.
    std::optional<std::string> enabled(const Resource& service);

private:
    struct Answers {
        std::map<std::string, std::string, std::less<>> by_name;
        std::uint64_t actions = 0;
        std::int64_t queried_ns = 0;
        bool fresh = false;
    };
    std::optional<std::string> answer(const Resource& service, std::string_view verb,
                                      std::string_view attribute, Answers& cache);

    Answers active_, enabled_;
};

}  // namespace bunraku::apply

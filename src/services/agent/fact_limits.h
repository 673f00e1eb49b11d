// SPDX-License-Identifier: Apache-2.0
// The soft limits for facts: the agent warns before a store has to reject the facts (Puppet 8.11,
// configurer.rb).
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "core/value/value.h"

namespace bunraku::agent {

using LogMessage = std::function<void(base::Level, std::string)>;

/// Warns about too many facts, and about names and values that are too long. `facts` is the hash of
/// all facts. A limit of 0 means unlimited.
void check_fact_limits(const config::Settings& settings, const value::Value& facts,
                       const LogMessage& log);

/// Warns if `size`, in bytes, is more than `payload_soft_limit`.
void check_payload_size(const config::Settings& settings, std::size_t size, const LogMessage& log);

}  // namespace bunraku::agent

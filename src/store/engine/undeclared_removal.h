// SPDX-License-Identifier: Apache-2.0
// How an agent can remove a resource that it created and that is no longer declared.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::store {

/// Returns what a removal needs to know, as a JSON object of texts; empty if an automatic removal
/// is not safe. `parameters` is JSON, as the resource was declared last.
///
/// - File: `path`, and `sha256` of the content. Only regular files with `content`: with a `source`,
///   the store does not know the content.
/// - Package: `name`, and `provider` if it was declared.
/// - Service: `name`, and `provider` if it was declared. Removal means `enable => false`.
/// - Cron: `name`, and `user` and `target` if they were declared.
/// - User: `name`. Not with `managehome`, because the home may contain anything.
std::string removal_json(std::string_view type, std::string_view title,
                         std::string_view parameters);

}  // namespace bunraku::store

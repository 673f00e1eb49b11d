// SPDX-License-Identifier: Apache-2.0
// The table of the protocol's methods.
#pragma once

#include <span>
#include <string_view>

#include "services/lsp/lifecycle.h"

namespace bunraku::lsp {

struct RequestMethod {
    std::string_view name;
    Answer (*handle)(State& state, const value::Value& params);
};
struct NotificationMethod {
    std::string_view name;
    Notified (*handle)(State& state, const value::Value& params);
};

/// Both return null for an unknown method.
const RequestMethod* find_request(std::string_view name);
const NotificationMethod* find_notification(std::string_view name);

}  // namespace bunraku::lsp

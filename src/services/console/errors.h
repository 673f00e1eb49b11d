// SPDX-License-Identifier: Apache-2.0
// Errors of the database as sentences for readers. Its own messages may name hosts, files and
// statements, so they are only in the server's log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::console {

struct ErrorText {
    int status = 500;  ///< of HTTP
    std::string_view title, message;
};
/// Returns nullopt if the error does not come from the database.
std::optional<ErrorText> database_error(const base::Error& error);
/// Returns the message of an error, or the sentence for an error of the database.
std::string shown_message(const base::Error& error);

}  // namespace bunraku::console

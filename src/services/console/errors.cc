// SPDX-License-Identifier: Apache-2.0
#include "services/console/errors.h"

#include <fmt/format.h>

#include "store/db/database.h"

namespace bunraku::console {

using store::Failure;

std::optional<ErrorText> database_error(const base::Error& error) {
    // failure_of() classifies errors of other modules as Other.
    if (error.code < static_cast<int>(Failure::Other) ||
        error.code > static_cast<int>(Failure::Timeout))
        return std::nullopt;
    switch (store::failure_of(error)) {
        case Failure::Unavailable:
        case Failure::Retry:
            return ErrorText{503, "The database does not answer",
                             "Agents are still served, and the server stores their reports when "
                             "the database is back. Reload this page then."};
        case Failure::Query:
            return ErrorText{400, "The query is not valid",
                             "The database refused it. Check its regular expressions and the types "
                             "of its values."};
        case Failure::Timeout:
            return ErrorText{503, "The query took too long",
                             "The server stopped the query at its time limit."};
        case Failure::Full:
            return ErrorText{503, "The database has no space left",
                             "Nothing can be stored until the disk of the database has free space."
                             " The server's log has the details."};
        case Failure::None:
        case Failure::Constraint:
        case Failure::Other: break;
    }
    return ErrorText{500, "The database reported an error", "The server's log has the reason."};
}

std::string shown_message(const base::Error& error) {
    const auto text = database_error(error);
    return text ? fmt::format("{}. {}", text->title, text->message) : error.message;
}

}  // namespace bunraku::console

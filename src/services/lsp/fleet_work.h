// SPDX-License-Identifier: Apache-2.0
// Analyses of all nodes of a fleet, which may take seconds and run on a thread of their own.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/base/result.h"

namespace bunraku::lsp {

class FleetWork {
public:
    virtual ~FleetWork() = default;

    struct Question {
        std::string environment;                     ///< the folder
        std::string facts;                           ///< the source of the fleet's facts
        std::map<std::string, std::string> unsaved;  ///< texts of open documents by path
        /// An input such as "class ntp" whose readers are wanted. If it is empty, the effect of the
        /// unsaved texts is wanted.
        std::string input;
    };
    /// Returns the answer as Markdown. Called on another thread than the rest of the server.
    virtual base::Result<std::string> ask(const Question& question) = 0;

    struct Usage {
        std::size_t nodes = 0;  ///< of the fleet
        /// The number of nodes that read each input: "class ntp", the path of a file, or a key of
        /// data as "PATH#KEY".
        std::map<std::string, std::size_t, std::less<>> readers;
    };
    /// Counts the readers of all inputs of the environment. Called like `ask`.
    virtual base::Result<Usage> usage(const Question& question) = 0;
};

}  // namespace bunraku::lsp

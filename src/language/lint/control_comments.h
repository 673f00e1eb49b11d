// SPDX-License-Identifier: Apache-2.0
// Control comments: `# lint:ignore:CHECK reason` and `# lint:endignore`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "language/lint/token_stream.h"

namespace bunraku::lint {

class ControlComments {
public:
    explicit ControlComments(const TokenStream& stream);

    /// Returns the reason why problems of `check` on this line are ignored, or null if they are
    /// not.
    const std::string* reason(std::string_view check, int line) const;
    /// Warnings about comments without a counterpart.
    const std::vector<std::string>& warnings() const { return warnings_; }

private:
    struct Open {
        int line;
        std::string reason, check;
    };
    void read(const Token& token, std::vector<std::vector<Open>>& open);
    void close(int line, std::vector<std::vector<Open>>& open);

    /// Reasons by check and line.
    std::map<std::string, std::map<int, std::string>, std::less<>> ignored_;
    std::vector<std::string> warnings_;
};

}  // namespace bunraku::lint

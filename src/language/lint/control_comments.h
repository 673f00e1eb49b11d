// SPDX-License-Identifier: Apache-2.0
// Control comments: `# lint:ignore:CHECK reason` and `# lint:endignore`.
#pragma once

#include <map>
#include <memory>
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
    /// The text of a comment, which all its checks share.
    using Reason = std::shared_ptr<const std::string>;
    struct Open {
        int line;
        Reason reason;
        std::string check;
    };
    struct Lines {
        int first, last;
        Reason reason;
    };
    void read(const Token& token, std::vector<std::vector<Open>>& open);
    void close(int line, std::vector<std::vector<Open>>& open);

    static void make_disjoint(std::vector<Lines>& all);

    /// The ignored lines by check, in order and disjoint.
    std::map<std::string, std::vector<Lines>, std::less<>> ignored_;
    std::vector<std::string> warnings_;
};

}  // namespace bunraku::lint

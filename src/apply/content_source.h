// Where file content comes from that a `source` names by puppet: local modules, or a server.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bunraku::apply {

class ContentSource {
public:
    virtual ~ContentSource() = default;
    /// The path on this machine of "puppet:///modules/m/f" or "puppet:///mount/f"; nullopt where
    /// nothing is served there.
    virtual std::optional<std::string> local_path(std::string_view uri) = 0;
};

}  // namespace bunraku::apply

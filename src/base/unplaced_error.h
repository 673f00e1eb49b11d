// An error whose text names no place, as in Puppet, and which is known to stand somewhere all the
// same: people are shown where.
#pragma once

#include <utility>

#include "base/diagnostic.h"

namespace bunraku::base {

struct UnplacedError : PuppetError {
    UnplacedError(const PuppetError& error, Location stands_at)
        : PuppetError(error), stands(std::move(stands_at)) {}
    Location stands;
};

}  // namespace bunraku::base

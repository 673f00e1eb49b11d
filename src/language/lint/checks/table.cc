// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "language/lint/checks/checks.h"

namespace bunraku::lint {

namespace {

#define BUNRAKU_CHECK_POINTER(NAME) &check_##NAME,
const Check* const kChecks[] = {BUNRAKU_LINT_CHECKS(BUNRAKU_CHECK_POINTER)};
#undef BUNRAKU_CHECK_POINTER

}  // namespace

std::span<const Check* const> all_checks() { return kChecks; }

const Check* find_check(std::string_view name) {
    const auto found = std::ranges::find(kChecks, name, &Check::name);
    return found == std::end(kChecks) ? nullptr : *found;
}

}  // namespace bunraku::lint

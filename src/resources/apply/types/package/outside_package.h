// SPDX-License-Identifier: Apache-2.0
// Packages that an outside provider manages (docs/outside-providers.md).
#pragma once

#include "resources/apply/outside.h"
#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

/// Returns the provider class for the program, which lives as long as the run.
PackageProviderClass* outside_package_class(Context& context, OutsideProgram& program);

/// Returns all packages that the program reports as installed.
std::vector<PackageState> outside_packages(OutsideProgram& program);

}  // namespace bunraku::apply

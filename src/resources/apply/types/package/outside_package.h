// Packages by an outside provider (docs/outside-providers.md).
#pragma once

#include "resources/apply/outside.h"
#include "resources/apply/types/package/package_provider.h"

namespace bunraku::apply {

/// A class of its own for the program; lives as long as the run.
PackageProviderClass* outside_package_class(Context& context, OutsideProgram& program);

/// All packages that it knows to be there.
std::vector<PackageState> outside_packages(OutsideProgram& program);

}  // namespace bunraku::apply

// SPDX-License-Identifier: Apache-2.0
// The provider init, and code that debian, redhat, gentoo and openwrt share with it.
#pragma once

#include "resources/apply/types/service/service_provider.h"

namespace bunraku::apply {

/// Returns the names of the scripts in /etc/init.d that are services.
std::vector<std::string> list_init_scripts(Context& context);

class Init : public ServiceProvider {
public:
    using ServiceProvider::ServiceProvider;

protected:
    std::vector<std::string> own_command(std::string_view what) override;
    /// Returns the first NAME or NAME.sh in the folders of `path`. Throws if there is none.
    std::string script();
};

}  // namespace bunraku::apply

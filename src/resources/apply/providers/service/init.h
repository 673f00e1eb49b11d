// Init scripts, and what debian, redhat, gentoo and openwrt share with them.
#pragma once

#include "resources/apply/types/service/service_provider.h"

namespace bunraku::apply {

/// Names of the scripts in /etc/init.d that are services.
std::vector<std::string> list_init_scripts(Context& context);

class Init : public ServiceProvider {
public:
    using ServiceProvider::ServiceProvider;

protected:
    std::vector<std::string> own_command(std::string_view what) override;
    /// The first NAME or NAME.sh in the folders of `path`; throws where there is none.
    std::string script();
};

}  // namespace bunraku::apply

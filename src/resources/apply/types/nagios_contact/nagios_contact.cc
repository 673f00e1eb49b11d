// SPDX-License-Identifier: Apache-2.0
// The type nagios_contact.
#include "resources/apply/registry.h"
#include "resources/apply/types/nagios/naginator.h"

namespace bunraku::apply {

std::unique_ptr<Resource> make_nagios_contact(Context& context, const TypeSpec& spec) {
    return std::make_unique<Naginator>(context, spec);
}

}  // namespace bunraku::apply

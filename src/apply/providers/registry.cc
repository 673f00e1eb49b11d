#include "apply/providers/registry.h"

#include <algorithm>
#include <iterator>

namespace bunraku::apply {
namespace {

struct Entry {
    std::string_view type;
    ResourceMaker maker;
};

// clang-format off
constexpr Entry kMakers[] = {
    {"cron", make_cron},
    {"exec", make_exec},
    {"file", make_file},
    {"filebucket", make_filebucket},
    {"group", make_group},
    {"host", make_host},
    {"mailalias", make_mailalias},
    {"mount", make_mount},
    {"notify", make_notify},
    {"package", make_package},
    {"resources", make_resources},
    {"schedule", make_schedule},
    {"service", make_service},
    {"ssh_authorized_key", make_ssh_authorized_key},
    {"sshkey", make_sshkey},
    {"stage", make_stage},
    {"tidy", make_tidy},
    {"user", make_user},
};
// clang-format on

/// A type that is known, but that nothing here can manage.
class Unsupported final : public Resource {
public:
    using Resource::Resource;
};

}  // namespace

ResourceMaker find_maker(std::string_view type) {
    auto it = std::find_if(std::begin(kMakers), std::end(kMakers),
                           [&](const Entry& m) { return m.type == type; });
    return it == std::end(kMakers) ? nullptr : it->maker;
}

std::unique_ptr<Resource> make_resource(Context& context, const TypeSpec& spec) {
    if (ResourceMaker maker = find_maker(spec.name)) return maker(context, spec);
    return std::make_unique<Unsupported>(context, spec);
}

}  // namespace bunraku::apply

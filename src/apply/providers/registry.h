// The types that are implemented natively: one function each, listed in registry.cc.
#pragma once

#include <memory>

#include "apply/resource.h"

namespace bunraku::apply {

using ResourceMaker = std::unique_ptr<Resource> (*)(Context&, const TypeSpec&);

std::unique_ptr<Resource> make_cron(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_exec(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_file(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_filebucket(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_group(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_host(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_mailalias(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_mount(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_notify(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_package(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_resources(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_schedule(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_service(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_ssh_authorized_key(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_sshkey(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_stage(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_tidy(Context&, const TypeSpec&);
std::unique_ptr<Resource> make_user(Context&, const TypeSpec&);

/// Null where the type has no native implementation.
ResourceMaker find_maker(std::string_view type);

}  // namespace bunraku::apply

// SPDX-License-Identifier: Apache-2.0
// The table of all native types, sorted by name.
#include "resources/restype/specs/table.h"

#include <algorithm>

#include "core/base/assert.h"
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr const TypeSpec* kTypes[] = {&kAugeas,
                                      &kComponent,
                                      &kComputer,
                                      &kCron,
                                      &kExec,
                                      &kFile,
                                      &kFilebucket,
                                      &kGroup,
                                      &kHost,
                                      &kInterface,
                                      &kK5login,
                                      &kMacauthorization,
                                      &kMailalias,
                                      &kMaillist,
                                      &kMcx,
                                      &kMount,
                                      &kNagiosCommand,
                                      &kNagiosContact,
                                      &kNagiosContactgroup,
                                      &kNagiosHost,
                                      &kNagiosHostdependency,
                                      &kNagiosHostescalation,
                                      &kNagiosHostextinfo,
                                      &kNagiosHostgroup,
                                      &kNagiosService,
                                      &kNagiosServicedependency,
                                      &kNagiosServiceescalation,
                                      &kNagiosServiceextinfo,
                                      &kNagiosServicegroup,
                                      &kNagiosTimeperiod,
                                      &kNotify,
                                      &kPackage,
                                      &kResources,
                                      &kRouter,
                                      &kSchedule,
                                      &kScheduledTask,
                                      &kSelboolean,
                                      &kSelmodule,
                                      &kService,
                                      &kSshAuthorizedKey,
                                      &kSshkey,
                                      &kStage,
                                      &kTidy,
                                      &kUser,
                                      &kVlan,
                                      &kWhit,
                                      &kYumrepo,
                                      &kZfs,
                                      &kZone,
                                      &kZpool};
constexpr const TypeSpec* kModuleTypes[] = {&kAnchor, &kFileLine};
constexpr const TypeSpec* kAppliedTypes[] = {&kAlternatives, &kAnchor,         &kArchive,
                                             &kConcatFile,   &kConcatFragment, &kFileLine,
                                             &kIniSetting,   &kIniSubsetting,  &kVcsrepo};

[[maybe_unused]] bool sorted_by_name(std::span<const TypeSpec* const> types) {
    return std::ranges::adjacent_find(types, [](const TypeSpec* a, const TypeSpec* b) {
               return a->name >= b->name;
           }) == types.end();
}

}  // namespace

std::span<const TypeSpec* const> type_table() {
    BUNRAKU_ASSERT([] {
        static const bool sorted = sorted_by_name(kTypes);
        return sorted;
    }());
    return kTypes;
}
std::span<const TypeSpec* const> module_type_table() {
    BUNRAKU_ASSERT(sorted_by_name(kModuleTypes));
    return kModuleTypes;
}

const TypeSpec* find_applied_type(std::string_view name) {
    const auto it = std::ranges::find(kAppliedTypes, name, &TypeSpec::name);
    return it == std::end(kAppliedTypes) ? nullptr : *it;
}

}  // namespace bunraku::restype

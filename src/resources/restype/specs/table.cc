// The table of all native types, by name.
#include "resources/restype/specs/table.h"

#include <algorithm>

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

}  // namespace

std::span<const TypeSpec* const> type_table() { return kTypes; }
std::span<const TypeSpec* const> module_type_table() { return kModuleTypes; }

const TypeSpec* find_applied_type(std::string_view name) {
    const auto it = std::ranges::find(kAppliedTypes, name, &TypeSpec::name);
    return it == std::end(kAppliedTypes) ? nullptr : *it;
}

}  // namespace bunraku::restype

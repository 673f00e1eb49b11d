// Made by tools/module_releases/table: not to be edited.
#include "resources/apply/module_releases.h"

namespace bunraku::apply {
namespace {

// clang-format off
constexpr std::string_view k_alternatives_files[] = {
    "puppet/type/alternatives.rb",
    "puppet/provider/alternatives/dpkg.rb",
    "puppet/provider/alternatives/rpm.rb",
    "puppet/provider/alternatives/chkconfig.rb",
};
constexpr ModuleRelease k_alternatives[] = {
    {0x1c5562fed067a172, 0},  // 4.1.0
    {0x447e2e4f867ba03f, 1},  // 6.0.0
    {0x5e6082a8a563d913, 0},  // 4.0.0
    {0x7e346aa9d478c7a4, 0},  // 2.1.0
    {0x9320fec663cf63d1, 0},  // 3.0.0
    {0xa0fd79f73e511632, 1},  // 4.2.0 to 5.1.0
};
constexpr std::string_view k_archive_files[] = {
    "puppet/type/archive.rb",
    "puppet/provider/archive/ruby.rb",
    "puppet/provider/archive/curl.rb",
    "puppet/provider/archive/wget.rb",
    "puppet_x/bodeco/archive.rb",
    "puppet_x/bodeco/util.rb",
};
constexpr ModuleRelease k_archive[] = {
    {0x3350dfc4df07e2ad, 1},  // 8.0.0
    {0x6c93d28679f8bc56, 0},  // 4.1.0
    {0x70ea1dbbeb4679f9, 1},  // 7.1.0
    {0x9879f4299d5247a0, 1},  // 7.0.0
    {0xa64f1688b7b38425, 1},  // 6.1.2
    {0xc515c8617e4aafdc, 2},  // 8.1.0
};
constexpr std::string_view k_concat_file_files[] = {
    "puppet/type/concat_file.rb",
    "puppet/type/concat_fragment.rb",
};
constexpr ModuleRelease k_concat_file[] = {
    {0x19b607250e2d91f3, 0},  // 7.0.2 to 7.3.3
    {0x1a8c9bfc45498697, 1},  // 7.4.0
    {0x7a4381dab514884b, 2},  // 10.0.0 to 10.0.1
    {0xa9b81e9a5d23879a, 1},  // 9.0.1
    {0xb43939340b93d2bf, 1},  // 9.0.2 to 9.1.0
    {0xd40a82f5c540dc8e, 1},  // 8.0.1 to 9.0.0
};
constexpr std::string_view k_concat_fragment_files[] = {
    "puppet/type/concat_fragment.rb",
    "puppet/type/concat_file.rb",
};
constexpr ModuleRelease k_concat_fragment[] = {
    {0x280f3229ee74f4ac, 0},  // 7.0.2 to 7.3.3
    {0x4693e6773e58f0c9, 1},  // 7.4.0
    {0x521dd3f705b4519e, 1},  // 9.0.2 to 9.1.0
    {0x87ed824f8191363a, 1},  // 8.0.1 to 9.0.0
    {0xd525d1b4906a8128, 2},  // 10.0.0 to 10.0.1
    {0xd74fbc2c23507e65, 1},  // 9.0.1
};
constexpr std::string_view k_file_line_files[] = {
    "puppet/type/file_line.rb",
    "puppet/provider/file_line/ruby.rb",
};
constexpr ModuleRelease k_file_line[] = {
    {0x7f16d4642f2f7d44, 0},  // 6.1.0 to 6.6.0
    {0xa94933a7a9b5f0d0, 0},  // 7.0.0 to 8.2.0
    {0xc54591161f99db75, 1},  // 9.0.0 to 9.7.0
    {0xca3f3e6820aaf804, 0},  // 4.24.0 to 6.0.0
    {0xcffbab12bd7e6b90, 1},  // 8.3.0 to 8.6.0
};
constexpr std::string_view k_ini_setting_files[] = {
    "puppet/type/ini_setting.rb",
    "puppet/provider/ini_setting/ruby.rb",
    "puppet/util/ini_file.rb",
    "puppet/util/ini_file/section.rb",
    "puppet/util/external_iterator.rb",
};
constexpr ModuleRelease k_ini_setting[] = {
    {0x0cbce5f6460bb408, 2},  // 5.4.0 to 5.4.1
    {0x26c11a194bf13bf8, 4},  // 6.3.0
    {0x452de47dbf00b3dd, 0},  // 5.1.0 to 5.2.0
    {0x8bcc2172b6fb6a8c, 2},  // 6.0.0
    {0x9943f19c28ca07fa, 0},  // 4.4.0
    {0xace4c3a383c57762, 1},  // 5.3.0
    {0xd7aafd832f8c29e9, 3},  // 6.1.1 to 6.2.0
    {0xd8441de737048a7f, 2},  // 6.1.0
    {0xe45fc028d00e4319, 0},  // 5.0.0 to 5.0.1
    {0xeb623368f96a0480, 4},  // 6.3.1
};
constexpr std::string_view k_ini_subsetting_files[] = {
    "puppet/type/ini_subsetting.rb",
    "puppet/provider/ini_subsetting/ruby.rb",
    "puppet/util/setting_value.rb",
    "puppet/util/ini_file.rb",
    "puppet/util/ini_file/section.rb",
    "puppet/util/external_iterator.rb",
};
constexpr ModuleRelease k_ini_subsetting[] = {
    {0x118821a889aa5668, 0},  // 5.0.0 to 5.2.0
    {0x42617fdd538151ed, 1},  // 6.1.0
    {0x47421fca8bfa3fa6, 4},  // 6.3.1
    {0x67b51b9b8b7e2424, 1},  // 6.0.0
    {0x69fa098cb2686298, 4},  // 6.3.0
    {0xa5c2546e8644e5e8, 3},  // 6.1.1 to 6.2.0
    {0xcb16bf79ea5dd399, 1},  // 5.3.0 to 5.4.1
    {0xcb25ac5bfdc67f50, 0},  // 4.4.0
};
constexpr std::string_view k_vcsrepo_files[] = {
    "puppet/type/vcsrepo.rb",
    "puppet/provider/vcsrepo.rb",
    "puppet/provider/vcsrepo/git.rb",
    "puppet/provider/vcsrepo/bzr.rb",
    "puppet/provider/vcsrepo/cvs.rb",
    "puppet/provider/vcsrepo/dummy.rb",
    "puppet/provider/vcsrepo/hg.rb",
    "puppet/provider/vcsrepo/p4.rb",
    "puppet/provider/vcsrepo/svn.rb",
};
constexpr ModuleRelease k_vcsrepo[] = {
    {0x1cde99c38ee234f6, 1},  // 6.0.1 to 6.1.0
    {0x3ae11cd7e7d3dc0a, 0},  // 5.4.0 to 5.5.0
    {0xc3f92761a408a0a3, 0},  // 6.0.0
    {0xf4fe27303b95bf89, 1},  // 7.0.0
};

constexpr ModuleType kModuleTypeTable[] = {
    {"alternatives", k_alternatives_files, k_alternatives, 1},
    {"archive", k_archive_files, k_archive, 2},
    {"concat_file", k_concat_file_files, k_concat_file, 2, "concat"},
    {"concat_fragment", k_concat_fragment_files, k_concat_fragment, 2, "concat"},
    {"file_line", k_file_line_files, k_file_line, 1},
    {"ini_setting", k_ini_setting_files, k_ini_setting, 4},
    {"ini_subsetting", k_ini_subsetting_files, k_ini_subsetting, 4},
    {"vcsrepo", k_vcsrepo_files, k_vcsrepo, 1},
};
// clang-format on

}  // namespace

std::span<const ModuleType> module_types() { return kModuleTypeTable; }

}  // namespace bunraku::apply

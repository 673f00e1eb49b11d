// Made by tools/stdlib_releases/compare: not to be edited. Releases of puppetlabs-stdlib 4.0.0 to
// 9.7.0 beside Puppet 8.11.
#include "function/stdlib_releases.h"

#include <algorithm>

namespace bunraku::function {
namespace {

// clang-format off
// 29 releases, 112 calls compared.
constexpr std::string_view k_any2array_files[] = {
    "lib/puppet/parser/functions/any2array.rb",
};
constexpr std::uint64_t k_any2array_digests[] = {
    0x283d79db50814566,  // 6.1.0 to 6.6.0
    0x2cba2f77cb2cdc1c,  // 9.0.0 to 9.7.0
    0x536b7359f743a4ed,  // 5.0.0 to 6.0.0
    0xaa225cf6d4d4a758,  // 7.0.0 to 8.6.0
};
// 33 releases, 102 calls compared.
constexpr std::string_view k_any2bool_files[] = {
    "lib/puppet/parser/functions/any2bool.rb",
    "lib/puppet/parser/functions/num2bool.rb",
    "lib/puppet/parser/functions/str2bool.rb",
};
constexpr std::uint64_t k_any2bool_digests[] = {
    0x012d1503b907ab85,  // 4.23.0
    0x0c35ec9589c8faea,  // 6.1.0 to 6.6.0
    0x188525dc6130504a,  // 4.24.0
    0x1c4f2f4eab1589e3,  // 5.0.0 to 6.0.0
    0x585429e419e27008,  // 9.0.0 to 9.7.0
    0xae41050ba3a04b4e,  // 7.0.0 to 8.6.0
    0xb2550695b1a47250,  // 4.25.0 to 4.25.1
};
// 33 releases, 110 calls compared.
constexpr std::string_view k_basename_files[] = {
    "lib/puppet/parser/functions/basename.rb",
};
constexpr std::uint64_t k_basename_digests[] = {
    0x1c20d1e594595b9e,  // 7.0.0 to 8.6.0
    0x60eec315a6b09a69,  // 6.1.0 to 6.6.0
    0x7fde57a13090601f,  // 9.0.0 to 9.7.0
    0x7ff00f7025957693,  // 4.23.0
    0xbe7bd68fd41a3fb9,  // 4.24.0 to 6.0.0
};
// 5 releases, 106 calls compared.
constexpr std::string_view k_batch_escape_files[] = {
    "lib/puppet/functions/batch_escape.rb",
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/batch_escape.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_batch_escape_digests[] = {
    0xbe5829ce60d874bf,  // 8.2.0 to 8.6.0
};
// 33 releases, 102 calls compared.
constexpr std::string_view k_bool2num_files[] = {
    "lib/puppet/parser/functions/bool2num.rb",
    "lib/puppet/parser/functions/str2bool.rb",
};
constexpr std::uint64_t k_bool2num_digests[] = {
    0x3c338f4b4570fef7,  // 9.0.0 to 9.7.0
    0x6c71ceaea2b50b98,  // 6.1.0 to 6.6.0
    0x73efbbf0212bf00b,  // 5.0.0 to 6.0.0
    0xa155c2c933500e52,  // 4.24.0 to 4.25.1
    0xc6b79c6457d53987,  // 7.0.0 to 8.6.0
    0xea9e98a9c2ff91de,  // 4.23.0
};
// 33 releases, 107 calls compared.
constexpr std::string_view k_bool2str_files[] = {
    "lib/puppet/parser/functions/bool2str.rb",
};
constexpr std::uint64_t k_bool2str_digests[] = {
    0x1061b9f59b672560,  // 4.23.0
    0x3100651bb2d66d45,  // 6.1.0 to 6.6.0
    0x9d6469496e2a70c6,  // 9.0.0 to 9.7.0
    0xa9b53a51f1237496,  // 5.0.0 to 6.0.0
    0xc9a363194acbdccd,  // 7.0.0 to 8.6.0
    0xe8d8b21e48ef6af0,  // 4.24.0 to 4.25.1
};
// 41 releases, 111 calls compared.
constexpr std::string_view k_clamp_files[] = {
    "lib/puppet/parser/functions/clamp.rb",
};
constexpr std::uint64_t k_clamp_digests[] = {
    0x137305410e93caca,  // 5.0.0 to 6.0.0
    0x3ebe5f15e43e0247,  // 7.0.0 to 8.6.0
    0x84845fd130555238,  // 6.1.0 to 6.6.0
    0xb2d9594eba4097a7,  // 9.0.0 to 9.7.0
    0xcc3f117e11494c48,  // 4.24.0 to 4.25.1
    0xe6fe5ba75607737d,  // 4.23.0
    0xeecae3adf507cbbd,  // 4.16.0 to 4.22.0
};
// 41 releases, 112 calls compared.
constexpr std::string_view k_concat_files[] = {
    "lib/puppet/parser/functions/concat.rb",
};
constexpr std::uint64_t k_concat_digests[] = {
    0x29dfa4c05a9b6ebf,  // 7.0.0 to 8.6.0
    0x94ae3d6f3839b279,  // 5.0.0 to 6.0.0
    0x9536c61419299cc4,  // 4.23.0
    0xe361cf6ba5cd168d,  // 4.24.0 to 4.25.1
    0xefb039e240fc5751,  // 6.1.0 to 6.6.0
    0xf01bacaa01cfa34b,  // 4.16.0 to 4.22.0
    0xf52a5cc0e604ad01,  // 9.0.0 to 9.7.0
};
// 50 releases, 113 calls compared.
constexpr std::string_view k_convert_base_files[] = {
    "lib/puppet/parser/functions/convert_base.rb",
};
constexpr std::uint64_t k_convert_base_digests[] = {
    0x19e44abbc3472526,  // 4.9.0 to 4.22.0
    0x2753e0b871e3f115,  // 7.0.0 to 8.6.0
    0x52f2b312f4c63b0e,  // 5.0.0 to 6.0.0
    0x534edf7009c2c863,  // 6.1.0 to 6.6.0
    0x9ad48ac75cd7c84b,  // 4.23.0
    0x9f967758b16fda0d,  // 9.0.0 to 9.7.0
    0xcbd28f0eb1f5651b,  // 4.24.0 to 4.25.1
};
// 41 releases, 118 calls compared.
constexpr std::string_view k_difference_files[] = {
    "lib/puppet/parser/functions/difference.rb",
};
constexpr std::uint64_t k_difference_digests[] = {
    0x08c5c20456a8c8c5,  // 5.0.0 to 6.0.0
    0x13762f67f6099fb8,  // 7.0.0 to 8.6.0
    0x387192359806bb14,  // 9.0.0 to 9.7.0
    0x3a05eeb49a4102fd,  // 6.1.0 to 6.6.0
    0x602262978c37b333,  // 4.24.0 to 4.25.1
    0x6d55272505be98b2,  // 4.23.0
    0xcf3af952c08356c8,  // 4.16.0 to 4.22.0
};
// 29 releases, 108 calls compared.
constexpr std::string_view k_dirname_files[] = {
    "lib/puppet/parser/functions/dirname.rb",
};
constexpr std::uint64_t k_dirname_digests[] = {
    0x447b31a464f690b2,  // 5.0.0 to 6.0.0
    0xbaa52e242f950402,  // 6.1.0 to 6.6.0
    0xfa51a61c1153d2e4,  // 7.0.0 to 8.6.0
    0xfdc5e45d49744c3a,  // 9.0.0 to 9.7.0
};
// 50 releases, 102 calls compared.
constexpr std::string_view k_dos2unix_files[] = {
    "lib/puppet/parser/functions/dos2unix.rb",
};
constexpr std::uint64_t k_dos2unix_digests[] = {
    0x01fc35cec38a6630,  // 4.9.0 to 4.22.0
    0x113f33f126d80534,  // 6.1.0 to 6.6.0
    0x1b653ff275f5cf17,  // 4.23.0
    0xc584d85b3478f274,  // 7.0.0 to 8.6.0
    0xeae69d653c34ba40,  // 9.0.0 to 9.7.0
    0xfdc3a8f4a3ee38ac,  // 4.24.0 to 6.0.0
};
// 19 releases, 118 calls compared.
constexpr std::string_view k_fact_files[] = {
    "lib/puppet/functions/fact.rb",
};
constexpr std::uint64_t k_fact_digests[] = {
    0x49a0870d0b73e96a,  // 7.0.0 to 9.7.0
};
// 10 releases, 116 calls compared.
constexpr std::string_view k_fqdn_rand_string_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/fqdn_rand_string.rb",
    "lib/puppet/functions/stdlib/fqdn_rand_string.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/fqdn_rand_string.rb",
    "lib/puppet/parser/functions/is_integer.rb",
    "types/compat/integer.pp",
};
constexpr std::uint64_t k_fqdn_rand_string_digests[] = {
    0x2b6a5ea14cdbe129,  // 7.0.0 to 8.2.0
    0xec5ae46e557ff933,  // 8.3.0 to 8.6.0
};
// 19 releases, 113 calls compared.
constexpr std::string_view k_has_ip_network_files[] = {
    "lib/puppet/parser/functions/has_interface_with.rb",
    "lib/puppet/parser/functions/has_ip_network.rb",
};
constexpr std::uint64_t k_has_ip_network_digests[] = {
    0x3a586892c9ea5c5e,  // 9.0.0 to 9.7.0
    0xbb9f446cccff6e7a,  // 7.0.0 to 8.6.0
};
// 10 releases, 112 calls compared.
constexpr std::string_view k_has_key_files[] = {
    "lib/puppet/parser/functions/has_key.rb",
};
constexpr std::uint64_t k_has_key_digests[] = {
    0x4e3a265a0b16229f,  // 7.0.0 to 8.6.0
};
// 10 releases, 107 calls compared.
constexpr std::string_view k_hash_files[] = {
    "lib/puppet/parser/functions/hash.rb",
};
constexpr std::uint64_t k_hash_digests[] = {
    0x160223b5b993b1e7,  // 7.0.0 to 8.6.0
};
// 19 releases, 102 calls compared.
constexpr std::string_view k_is_a_files[] = {
    "lib/puppet/functions/is_a.rb",
};
constexpr std::uint64_t k_is_a_digests[] = {
    0x7f121e08df50dc11,  // 7.0.0 to 9.7.0
};
// 10 releases, 125 calls compared.
constexpr std::string_view k_is_domain_name_files[] = {
    "lib/puppet/parser/functions/is_domain_name.rb",
};
constexpr std::uint64_t k_is_domain_name_digests[] = {
    0xd2f5b2ba808473db,  // 7.0.0 to 8.6.0
};
// 10 releases, 107 calls compared.
constexpr std::string_view k_is_email_address_files[] = {
    "lib/puppet/parser/functions/is_email_address.rb",
};
constexpr std::uint64_t k_is_email_address_digests[] = {
    0xa7619cd4b4abbbc1,  // 7.0.0 to 8.6.0
};
// 10 releases, 104 calls compared.
constexpr std::string_view k_is_hash_files[] = {
    "lib/puppet/parser/functions/is_hash.rb",
};
constexpr std::uint64_t k_is_hash_digests[] = {
    0x4c5095b4bae49f54,  // 7.0.0 to 8.6.0
};
// 10 releases, 116 calls compared.
constexpr std::string_view k_is_integer_files[] = {
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_integer.rb",
    "types/compat/integer.pp",
};
constexpr std::uint64_t k_is_integer_digests[] = {
    0x4b76e0c67e05516d,  // 7.0.0 to 8.2.0
    0xe2bb68960ba34034,  // 8.3.0 to 8.6.0
};
// 19 releases, 117 calls compared.
constexpr std::string_view k_member_files[] = {
    "lib/puppet/parser/functions/member.rb",
};
constexpr std::uint64_t k_member_digests[] = {
    0xc5781d99e21567fe,  // 9.0.0 to 9.7.0
    0xe6d59574453dd62b,  // 7.0.0 to 8.6.0
};
// 6 releases, 124 calls compared.
constexpr std::string_view k_os_version_gte_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/os_version_gte.rb",
    "lib/puppet/functions/stdlib/os_version_gte.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_os_version_gte_digests[] = {
    0xa6c3117a6531a84f,  // 8.1.0 to 8.6.0
};
// 19 releases, 106 calls compared.
constexpr std::string_view k_pick_files[] = {
    "lib/puppet/parser/functions/pick.rb",
};
constexpr std::uint64_t k_pick_digests[] = {
    0xd63e597c13b99db4,  // 8.3.0 to 8.6.0
    0xee4355d227eae691,  // 9.0.0 to 9.7.0
    0xfda19b9b7aa72221,  // 7.0.0 to 8.2.0
};
// 19 releases, 106 calls compared.
constexpr std::string_view k_pick_default_files[] = {
    "lib/puppet/parser/functions/pick_default.rb",
};
constexpr std::uint64_t k_pick_default_digests[] = {
    0x0fea271b1245aab8,  // 7.0.0 to 8.6.0
    0xabc8342125ac5547,  // 9.0.0 to 9.7.0
};
// 5 releases, 106 calls compared.
constexpr std::string_view k_powershell_escape_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/powershell_escape.rb",
    "lib/puppet/functions/stdlib/powershell_escape.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_powershell_escape_digests[] = {
    0xad4d4735e88b7416,  // 8.2.0 to 8.6.0
};
// 19 releases, 116 calls compared.
constexpr std::string_view k_prefix_files[] = {
    "lib/puppet/parser/functions/prefix.rb",
};
constexpr std::uint64_t k_prefix_digests[] = {
    0x723065328f501d87,  // 7.0.0 to 8.6.0
    0xc46730be024a0834,  // 9.0.0 to 9.7.0
};
// 19 releases, 102 calls compared.
constexpr std::string_view k_pry_files[] = {
    "lib/puppet/parser/functions/pry.rb",
};
constexpr std::uint64_t k_pry_digests[] = {
    0x5e372ae0e1b013e8,  // 7.0.0 to 8.6.0
    0xb745bd708208fd58,  // 9.0.0 to 9.7.0
};
// 19 releases, 107 calls compared.
constexpr std::string_view k_regexpescape_files[] = {
    "lib/puppet/parser/functions/regexpescape.rb",
};
constexpr std::uint64_t k_regexpescape_digests[] = {
    0x80d7a2f05011aeeb,  // 7.0.0 to 8.6.0
    0xaab3085f7e34d460,  // 9.0.0 to 9.7.0
};
// 19 releases, 110 calls compared.
constexpr std::string_view k_reverse_files[] = {
    "lib/puppet/parser/functions/reverse.rb",
};
constexpr std::uint64_t k_reverse_digests[] = {
    0x21a4621f184e78ae,  // 9.0.0 to 9.7.0
    0xc2938bb49e1ae108,  // 7.0.0 to 8.6.0
};
// 10 releases, 114 calls compared.
constexpr std::string_view k_seeded_rand_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/seeded_rand.rb",
    "lib/puppet/functions/stdlib/seeded_rand.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_integer.rb",
    "lib/puppet/parser/functions/seeded_rand.rb",
    "types/compat/integer.pp",
};
constexpr std::uint64_t k_seeded_rand_digests[] = {
    0x2c4bb1697cb86cbd,  // 7.0.0 to 8.2.0
    0x808b388c54c70def,  // 8.3.0 to 8.6.0
};
// 10 releases, 109 calls compared.
constexpr std::string_view k_seeded_rand_string_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/seeded_rand_string.rb",
    "lib/puppet/functions/stdlib/seeded_rand_string.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_seeded_rand_string_digests[] = {
    0xee86fecdece69396,  // 7.0.0 to 8.6.0
};
// 5 releases, 108 calls compared.
constexpr std::string_view k_shell_escape_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/shell_escape.rb",
    "lib/puppet/functions/stdlib/shell_escape.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/shell_escape.rb",
};
constexpr std::uint64_t k_shell_escape_digests[] = {
    0x165065a69001f684,  // 8.2.0 to 8.6.0
};
// 19 releases, 110 calls compared.
constexpr std::string_view k_shell_join_files[] = {
    "lib/puppet/parser/functions/shell_join.rb",
};
constexpr std::uint64_t k_shell_join_digests[] = {
    0x4be406ee0e0f1362,  // 7.0.0 to 8.6.0
    0xc65cef69e46c00ae,  // 9.0.0 to 9.7.0
};
// 19 releases, 108 calls compared.
constexpr std::string_view k_shell_split_files[] = {
    "lib/puppet/parser/functions/shell_split.rb",
};
constexpr std::uint64_t k_shell_split_digests[] = {
    0x7f4647ed02115ca0,  // 7.0.0 to 9.7.0
};
// 19 releases, 111 calls compared.
constexpr std::string_view k_shuffle_files[] = {
    "lib/puppet/parser/functions/shuffle.rb",
};
constexpr std::uint64_t k_shuffle_digests[] = {
    0x28c168c5ff490fd4,  // 7.0.0 to 8.6.0
    0x45d8782537d280d3,  // 9.0.0 to 9.7.0
};
// 10 releases, 106 calls compared.
constexpr std::string_view k_sprintf_hash_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/sprintf_hash.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_sprintf_hash_digests[] = {
    0x1431a7d2a2c91ddc,  // 7.0.0 to 8.6.0
};
// 9 releases, 106 calls compared.
constexpr std::string_view k_stdlib_in_batch_escape_files[] = {
    "lib/puppet/functions/stdlib/batch_escape.rb",
};
constexpr std::uint64_t k_stdlib_in_batch_escape_digests[] = {
    0xaab1576e3ef48642,  // 9.0.0 to 9.7.0
};
// 10 releases, 107 calls compared.
constexpr std::string_view k_stdlib_in_crc32_files[] = {
    "lib/puppet/functions/stdlib/crc32.rb",
};
constexpr std::uint64_t k_stdlib_in_crc32_digests[] = {
    0x91e35c193a040761,  // 9.0.0 to 9.7.0
    0xbb9f68686169cd88,  // 8.6.0
};
// 19 releases, 106 calls compared.
constexpr std::string_view k_stdlib_in_end_with_files[] = {
    "lib/puppet/functions/stdlib/end_with.rb",
};
constexpr std::uint64_t k_stdlib_in_end_with_digests[] = {
    0x730e0bdc36d55cfa,  // 7.0.0 to 9.7.0
};
// 19 releases, 108 calls compared.
constexpr std::string_view k_stdlib_in_extname_files[] = {
    "lib/puppet/functions/stdlib/extname.rb",
};
constexpr std::uint64_t k_stdlib_in_extname_digests[] = {
    0x032e6518b7b71bd8,  // 7.0.0 to 9.7.0
};
// 8 releases, 122 calls compared.
constexpr std::string_view k_stdlib_in_fqdn_rand_string_files[] = {
    "lib/puppet/functions/stdlib/fqdn_rand_string.rb",
};
constexpr std::uint64_t k_stdlib_in_fqdn_rand_string_digests[] = {
    0xb902590de1abc3b5,  // 9.1.0 to 9.7.0
};
// 5 releases, 102 calls compared.
constexpr std::string_view k_stdlib_in_fqdn_rotate_files[] = {
    "lib/puppet/functions/stdlib/fqdn_rotate.rb",
};
constexpr std::uint64_t k_stdlib_in_fqdn_rotate_digests[] = {
    0xa4efc241392fa0e2,  // 9.4.0 to 9.7.0
};
// 6 releases, 117 calls compared.
constexpr std::string_view k_stdlib_in_has_function_files[] = {
    "lib/puppet/functions/stdlib/has_function.rb",
};
constexpr std::uint64_t k_stdlib_in_has_function_digests[] = {
    0xb5d86c7b45406b9b,  // 9.3.0 to 9.7.0
};
// 9 releases, 130 calls compared.
constexpr std::string_view k_stdlib_in_has_interface_with_files[] = {
    "lib/puppet/functions/stdlib/has_interface_with.rb",
};
constexpr std::uint64_t k_stdlib_in_has_interface_with_digests[] = {
    0x99728899670719d4,  // 9.0.0 to 9.7.0
};
// 8 releases, 104 calls compared.
constexpr std::string_view k_stdlib_in_nested_values_files[] = {
    "lib/puppet/functions/stdlib/nested_values.rb",
};
constexpr std::uint64_t k_stdlib_in_nested_values_digests[] = {
    0xd99cf7924b81e220,  // 9.1.0 to 9.7.0
};
// 9 releases, 124 calls compared.
constexpr std::string_view k_stdlib_in_os_version_gte_files[] = {
    "lib/puppet/functions/stdlib/os_version_gte.rb",
};
constexpr std::uint64_t k_stdlib_in_os_version_gte_digests[] = {
    0xc5a388dc878fec42,  // 9.0.0 to 9.7.0
};
// 9 releases, 105 calls compared.
constexpr std::string_view k_stdlib_in_powershell_escape_files[] = {
    "lib/puppet/functions/stdlib/powershell_escape.rb",
};
constexpr std::uint64_t k_stdlib_in_powershell_escape_digests[] = {
    0xa0f4995e2db69f66,  // 9.0.0 to 9.7.0
};
// 9 releases, 114 calls compared.
constexpr std::string_view k_stdlib_in_seeded_rand_files[] = {
    "lib/puppet/functions/stdlib/seeded_rand.rb",
};
constexpr std::uint64_t k_stdlib_in_seeded_rand_digests[] = {
    0xc0e5cbb4a7e0d20f,  // 9.0.0 to 9.7.0
};
// 9 releases, 109 calls compared.
constexpr std::string_view k_stdlib_in_seeded_rand_string_files[] = {
    "lib/puppet/functions/stdlib/seeded_rand_string.rb",
};
constexpr std::uint64_t k_stdlib_in_seeded_rand_string_digests[] = {
    0x00a2d2da09bc0958,  // 9.0.0 to 9.7.0
};
// 10 releases, 108 calls compared.
constexpr std::string_view k_stdlib_in_sha256_files[] = {
    "lib/puppet/functions/stdlib/sha256.rb",
};
constexpr std::uint64_t k_stdlib_in_sha256_digests[] = {
    0x74df01178dd3f53c,  // 8.6.0
    0xb2ce0b46b7f73aea,  // 9.0.0 to 9.7.0
};
// 9 releases, 107 calls compared.
constexpr std::string_view k_stdlib_in_shell_escape_files[] = {
    "lib/puppet/functions/stdlib/shell_escape.rb",
};
constexpr std::uint64_t k_stdlib_in_shell_escape_digests[] = {
    0x35a37daec681434b,  // 9.0.0 to 9.7.0
};
// 19 releases, 105 calls compared.
constexpr std::string_view k_stdlib_in_start_with_files[] = {
    "lib/puppet/functions/stdlib/start_with.rb",
};
constexpr std::uint64_t k_stdlib_in_start_with_digests[] = {
    0xeb5e47c4b2b621f3,  // 7.0.0 to 9.7.0
};
// 9 releases, 111 calls compared.
constexpr std::string_view k_stdlib_in_to_json_pretty_files[] = {
    "lib/puppet/functions/stdlib/to_json_pretty.rb",
};
constexpr std::uint64_t k_stdlib_in_to_json_pretty_digests[] = {
    0x5cf47597d75f5bd3,  // 9.0.0 to 9.7.0
};
// 9 releases, 111 calls compared.
constexpr std::string_view k_stdlib_in_to_python_files[] = {
    "lib/puppet/functions/stdlib/to_python.rb",
};
constexpr std::uint64_t k_stdlib_in_to_python_digests[] = {
    0xb099c4dd50401fe6,  // 9.0.0 to 9.7.0
};
// 9 releases, 112 calls compared.
constexpr std::string_view k_stdlib_in_to_ruby_files[] = {
    "lib/puppet/functions/stdlib/to_ruby.rb",
};
constexpr std::uint64_t k_stdlib_in_to_ruby_digests[] = {
    0x1eeaff084f5c2df5,  // 9.0.0 to 9.7.0
};
// 9 releases, 103 calls compared.
constexpr std::string_view k_stdlib_in_type_of_files[] = {
    "lib/puppet/functions/stdlib/type_of.rb",
};
constexpr std::uint64_t k_stdlib_in_type_of_digests[] = {
    0x4d17b9aa78a0b40c,  // 9.0.0 to 9.7.0
};
// 14 releases, 102 calls compared.
constexpr std::string_view k_stdlib_in_xml_encode_files[] = {
    "lib/puppet/functions/stdlib/xml_encode.rb",
};
constexpr std::uint64_t k_stdlib_in_xml_encode_digests[] = {
    0xbb3bf714627bf66a,  // 8.2.0 to 9.7.0
};
// 19 releases, 104 calls compared.
constexpr std::string_view k_str2bool_files[] = {
    "lib/puppet/parser/functions/str2bool.rb",
};
constexpr std::uint64_t k_str2bool_digests[] = {
    0x2a535bfbcb799d3f,  // 9.0.0 to 9.7.0
    0xe856be758fe517da,  // 7.0.0 to 8.6.0
};
// 19 releases, 109 calls compared.
constexpr std::string_view k_str2saltedpbkdf2_files[] = {
    "lib/puppet/parser/functions/str2saltedpbkdf2.rb",
};
constexpr std::uint64_t k_str2saltedpbkdf2_digests[] = {
    0x164d01fea9a30453,  // 8.2.0 to 8.6.0
    0x906be2acde359411,  // 7.0.0 to 8.1.0
    0xac630854bf26fe18,  // 9.0.0 to 9.7.0
};
// 19 releases, 116 calls compared.
constexpr std::string_view k_suffix_files[] = {
    "lib/puppet/parser/functions/suffix.rb",
};
constexpr std::uint64_t k_suffix_digests[] = {
    0x57c4e99808425726,  // 9.0.0 to 9.7.0
    0x8d6f678151066a51,  // 7.0.0 to 8.6.0
};
// 10 releases, 111 calls compared.
constexpr std::string_view k_to_json_pretty_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/to_json_pretty.rb",
    "lib/puppet/functions/to_json_pretty.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_to_json_pretty_digests[] = {
    0x01558ff530320811,  // 7.0.0 to 8.6.0
};
// 5 releases, 112 calls compared.
constexpr std::string_view k_to_python_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/to_python.rb",
    "lib/puppet/functions/to_python.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_to_python_digests[] = {
    0x5b295d901b9571f6,  // 8.3.0 to 8.6.0
    0xe6c6527ab296c6df,  // 8.2.0
};
// 5 releases, 112 calls compared.
constexpr std::string_view k_to_ruby_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/to_ruby.rb",
    "lib/puppet/functions/to_ruby.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_to_ruby_digests[] = {
    0x3d00249dae64f37b,  // 8.3.0 to 8.6.0
    0xd247753b8b602294,  // 8.2.0
};
// 10 releases, 102 calls compared.
constexpr std::string_view k_type3x_files[] = {
    "lib/puppet/parser/functions/type3x.rb",
};
constexpr std::uint64_t k_type3x_digests[] = {
    0x76438df27f27aaba,  // 7.0.0 to 8.6.0
};
// 44 releases, 103 calls compared.
constexpr std::string_view k_type_of_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/type_of.rb",
    "lib/puppet/functions/type_of.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_type_of_digests[] = {
    0x160242d4ed7e8516,  // 4.16.0 to 4.22.0
    0x256a680b832ef7b0,  // 4.23.0
    0x2be0f2c877792206,  // 4.24.0 to 6.0.0
    0x3e11903babff1605,  // 4.14.0 to 4.15.0
    0x4c68db3cc36af56a,  // 7.0.0 to 8.6.0
    0x76b8591c79756952,  // 4.6.0 to 4.12.0
    0x96ade6c6f2ba5862,  // 6.1.0 to 6.6.0
    0xecf22f19e12aa5d4,  // 4.13.0 to 4.13.1
};
// 19 releases, 118 calls compared.
constexpr std::string_view k_union_files[] = {
    "lib/puppet/parser/functions/union.rb",
};
constexpr std::uint64_t k_union_digests[] = {
    0x9162c0517db917a1,  // 9.0.0 to 9.7.0
    0xe11e208be3489716,  // 7.0.0 to 8.6.0
};
// 19 releases, 102 calls compared.
constexpr std::string_view k_unix2dos_files[] = {
    "lib/puppet/parser/functions/unix2dos.rb",
};
constexpr std::uint64_t k_unix2dos_digests[] = {
    0x86fd073a81362b3e,  // 9.0.0 to 9.7.0
    0xaa995278c07581ec,  // 7.0.0 to 8.6.0
};
// 6 releases, 106 calls compared.
constexpr std::string_view k_uriescape_files[] = {
    "lib/puppet/parser/functions/uriescape.rb",
};
constexpr std::uint64_t k_uriescape_digests[] = {
    0x374f345dc8a2d0f1,  // 8.1.0 to 8.6.0
};
// 19 releases, 104 calls compared.
constexpr std::string_view k_validate_augeas_files[] = {
    "lib/puppet/parser/functions/validate_augeas.rb",
};
constexpr std::uint64_t k_validate_augeas_digests[] = {
    0x532ec1f30bad2ae0,  // 9.0.0 to 9.7.0
    0x623830bba325df35,  // 7.0.0 to 8.6.0
};
// 10 releases, 116 calls compared.
constexpr std::string_view k_validate_domain_name_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/validate_domain_name.rb",
    "lib/puppet/functions/validate_domain_name.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_domain_name.rb",
    "lib/puppet/parser/functions/validate_domain_name.rb",
    "types/dns/zone.pp",
    "types/fqdn.pp",
};
constexpr std::uint64_t k_validate_domain_name_digests[] = {
    0x4cff6d32a9c8fc4a,  // 8.3.0 to 8.6.0
    0xa587a45f7cc672f5,  // 7.0.0 to 8.2.0
};
// 10 releases, 108 calls compared.
constexpr std::string_view k_validate_email_address_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/validate_email_address.rb",
    "lib/puppet/functions/validate_email_address.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_email_address.rb",
    "lib/puppet/parser/functions/validate_email_address.rb",
    "types/email.pp",
};
constexpr std::uint64_t k_validate_email_address_digests[] = {
    0x770e25f0c4cf748c,  // 8.3.0 to 8.6.0
    0xd6ed555993e00c6e,  // 7.0.0 to 8.0.0
    0xfae620283d61addc,  // 8.1.0 to 8.2.0
};
// 19 releases, 108 calls compared.
constexpr std::string_view k_validate_x509_rsa_key_pair_files[] = {
    "lib/puppet/parser/functions/validate_x509_rsa_key_pair.rb",
};
constexpr std::uint64_t k_validate_x509_rsa_key_pair_digests[] = {
    0x7f4edde4565d1605,  // 7.0.0 to 8.2.0
    0xabf5880d686709ab,  // 9.0.0 to 9.7.0
    0xd1375e226c595390,  // 8.3.0 to 8.6.0
};
// 19 releases, 129 calls compared.
constexpr std::string_view k_values_at_files[] = {
    "lib/puppet/parser/functions/values_at.rb",
};
constexpr std::uint64_t k_values_at_digests[] = {
    0x247392d38c73d7a5,  // 7.0.0 to 8.6.0
    0xb7a420f42696ef71,  // 9.0.0 to 9.7.0
};
// 19 releases, 112 calls compared.
constexpr std::string_view k_zip_files[] = {
    "lib/puppet/parser/functions/str2bool.rb",
    "lib/puppet/parser/functions/zip.rb",
};
constexpr std::uint64_t k_zip_digests[] = {
    0xc65b78d5cbfdafca,  // 7.0.0 to 8.6.0
    0xfac10404ff8adef8,  // 9.0.0 to 9.7.0
};
constexpr StdlibFunction kFunctions[] = {
    {"any2array", k_any2array_files, k_any2array_digests},
    {"any2bool", k_any2bool_files, k_any2bool_digests},
    {"basename", k_basename_files, k_basename_digests},
    {"batch_escape", k_batch_escape_files, k_batch_escape_digests},
    {"bool2num", k_bool2num_files, k_bool2num_digests},
    {"bool2str", k_bool2str_files, k_bool2str_digests},
    {"clamp", k_clamp_files, k_clamp_digests},
    {"concat", k_concat_files, k_concat_digests},
    {"convert_base", k_convert_base_files, k_convert_base_digests},
    {"difference", k_difference_files, k_difference_digests},
    {"dirname", k_dirname_files, k_dirname_digests},
    {"dos2unix", k_dos2unix_files, k_dos2unix_digests},
    {"fact", k_fact_files, k_fact_digests},
    {"fqdn_rand_string", k_fqdn_rand_string_files, k_fqdn_rand_string_digests},
    {"has_ip_network", k_has_ip_network_files, k_has_ip_network_digests},
    {"has_key", k_has_key_files, k_has_key_digests},
    {"hash", k_hash_files, k_hash_digests},
    {"is_a", k_is_a_files, k_is_a_digests},
    {"is_domain_name", k_is_domain_name_files, k_is_domain_name_digests},
    {"is_email_address", k_is_email_address_files, k_is_email_address_digests},
    {"is_hash", k_is_hash_files, k_is_hash_digests},
    {"is_integer", k_is_integer_files, k_is_integer_digests},
    {"member", k_member_files, k_member_digests},
    {"os_version_gte", k_os_version_gte_files, k_os_version_gte_digests},
    {"pick", k_pick_files, k_pick_digests},
    {"pick_default", k_pick_default_files, k_pick_default_digests},
    {"powershell_escape", k_powershell_escape_files, k_powershell_escape_digests},
    {"prefix", k_prefix_files, k_prefix_digests},
    {"pry", k_pry_files, k_pry_digests},
    {"regexpescape", k_regexpescape_files, k_regexpescape_digests},
    {"reverse", k_reverse_files, k_reverse_digests},
    {"seeded_rand", k_seeded_rand_files, k_seeded_rand_digests},
    {"seeded_rand_string", k_seeded_rand_string_files, k_seeded_rand_string_digests},
    {"shell_escape", k_shell_escape_files, k_shell_escape_digests},
    {"shell_join", k_shell_join_files, k_shell_join_digests},
    {"shell_split", k_shell_split_files, k_shell_split_digests},
    {"shuffle", k_shuffle_files, k_shuffle_digests},
    {"sprintf_hash", k_sprintf_hash_files, k_sprintf_hash_digests},
    {"stdlib::batch_escape", k_stdlib_in_batch_escape_files, k_stdlib_in_batch_escape_digests},
    {"stdlib::crc32", k_stdlib_in_crc32_files, k_stdlib_in_crc32_digests},
    {"stdlib::end_with", k_stdlib_in_end_with_files, k_stdlib_in_end_with_digests},
    {"stdlib::extname", k_stdlib_in_extname_files, k_stdlib_in_extname_digests},
    {"stdlib::fqdn_rand_string", k_stdlib_in_fqdn_rand_string_files, k_stdlib_in_fqdn_rand_string_digests},
    {"stdlib::fqdn_rotate", k_stdlib_in_fqdn_rotate_files, k_stdlib_in_fqdn_rotate_digests},
    {"stdlib::has_function", k_stdlib_in_has_function_files, k_stdlib_in_has_function_digests},
    {"stdlib::has_interface_with", k_stdlib_in_has_interface_with_files, k_stdlib_in_has_interface_with_digests},
    {"stdlib::nested_values", k_stdlib_in_nested_values_files, k_stdlib_in_nested_values_digests},
    {"stdlib::os_version_gte", k_stdlib_in_os_version_gte_files, k_stdlib_in_os_version_gte_digests},
    {"stdlib::powershell_escape", k_stdlib_in_powershell_escape_files, k_stdlib_in_powershell_escape_digests},
    {"stdlib::seeded_rand", k_stdlib_in_seeded_rand_files, k_stdlib_in_seeded_rand_digests},
    {"stdlib::seeded_rand_string", k_stdlib_in_seeded_rand_string_files, k_stdlib_in_seeded_rand_string_digests},
    {"stdlib::sha256", k_stdlib_in_sha256_files, k_stdlib_in_sha256_digests},
    {"stdlib::shell_escape", k_stdlib_in_shell_escape_files, k_stdlib_in_shell_escape_digests},
    {"stdlib::start_with", k_stdlib_in_start_with_files, k_stdlib_in_start_with_digests},
    {"stdlib::to_json_pretty", k_stdlib_in_to_json_pretty_files, k_stdlib_in_to_json_pretty_digests},
    {"stdlib::to_python", k_stdlib_in_to_python_files, k_stdlib_in_to_python_digests},
    {"stdlib::to_ruby", k_stdlib_in_to_ruby_files, k_stdlib_in_to_ruby_digests},
    {"stdlib::type_of", k_stdlib_in_type_of_files, k_stdlib_in_type_of_digests},
    {"stdlib::xml_encode", k_stdlib_in_xml_encode_files, k_stdlib_in_xml_encode_digests},
    {"str2bool", k_str2bool_files, k_str2bool_digests},
    {"str2saltedpbkdf2", k_str2saltedpbkdf2_files, k_str2saltedpbkdf2_digests},
    {"suffix", k_suffix_files, k_suffix_digests},
    {"to_json_pretty", k_to_json_pretty_files, k_to_json_pretty_digests},
    {"to_python", k_to_python_files, k_to_python_digests},
    {"to_ruby", k_to_ruby_files, k_to_ruby_digests},
    {"type3x", k_type3x_files, k_type3x_digests},
    {"type_of", k_type_of_files, k_type_of_digests},
    {"union", k_union_files, k_union_digests},
    {"unix2dos", k_unix2dos_files, k_unix2dos_digests},
    {"uriescape", k_uriescape_files, k_uriescape_digests},
    {"validate_augeas", k_validate_augeas_files, k_validate_augeas_digests},
    {"validate_domain_name", k_validate_domain_name_files, k_validate_domain_name_digests},
    {"validate_email_address", k_validate_email_address_files, k_validate_email_address_digests},
    {"validate_x509_rsa_key_pair", k_validate_x509_rsa_key_pair_files, k_validate_x509_rsa_key_pair_digests},
    {"values_at", k_values_at_files, k_values_at_digests},
    {"zip", k_zip_files, k_zip_digests},
};
// clang-format on

}  // namespace

std::span<const StdlibFunction> stdlib_functions() { return kFunctions; }

const StdlibFunction* find_stdlib_function(std::string_view name) {
    const auto* found = std::ranges::lower_bound(kFunctions, name, {}, &StdlibFunction::name);
    return found != std::end(kFunctions) && found->name == name ? found : nullptr;
}

}  // namespace bunraku::function

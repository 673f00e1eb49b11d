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
// 45 releases, 102 calls compared.
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
    0x1fa14174647db52b,  // 4.13.0 to 4.15.0
    0x585429e419e27008,  // 9.0.0 to 9.7.0
    0xae41050ba3a04b4e,  // 7.0.0 to 8.6.0
    0xb2550695b1a47250,  // 4.25.0 to 4.25.1
    0xdb0b7799e94a1699,  // 4.16.0 to 4.22.0
};
// 53 releases, 110 calls compared.
constexpr std::string_view k_basename_files[] = {
    "lib/puppet/parser/functions/basename.rb",
};
constexpr std::uint64_t k_basename_digests[] = {
    0x1c20d1e594595b9e,  // 7.0.0 to 8.6.0
    0x60eec315a6b09a69,  // 6.1.0 to 6.6.0
    0x69dda405624be355,  // 4.6.0 to 4.22.0
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
// 45 releases, 102 calls compared.
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
    0xcb69cc4832a93a0c,  // 4.16.0 to 4.22.0
    0xe4ad8b7f18cd2841,  // 4.13.0 to 4.15.0
    0xea9e98a9c2ff91de,  // 4.23.0
};
// 48 releases, 107 calls compared.
constexpr std::string_view k_bool2str_files[] = {
    "lib/puppet/parser/functions/bool2str.rb",
};
constexpr std::uint64_t k_bool2str_digests[] = {
    0x085718ccb07dda5e,  // 4.10.0 to 4.15.0
    0x1061b9f59b672560,  // 4.23.0
    0x1e009abccf40be09,  // 4.16.0 to 4.22.0
    0x3100651bb2d66d45,  // 6.1.0 to 6.6.0
    0x9d6469496e2a70c6,  // 9.0.0 to 9.7.0
    0xa9b53a51f1237496,  // 5.0.0 to 6.0.0
    0xc9a363194acbdccd,  // 7.0.0 to 8.6.0
    0xe8d8b21e48ef6af0,  // 4.24.0 to 4.25.1
};
// 46 releases, 111 calls compared.
constexpr std::string_view k_clamp_files[] = {
    "lib/puppet/parser/functions/clamp.rb",
};
constexpr std::uint64_t k_clamp_digests[] = {
    0x137305410e93caca,  // 5.0.0 to 6.0.0
    0x1ccb78016991a89e,  // 4.12.0 to 4.15.0
    0x3ebe5f15e43e0247,  // 7.0.0 to 8.6.0
    0x84845fd130555238,  // 6.1.0 to 6.6.0
    0xb2d9594eba4097a7,  // 9.0.0 to 9.7.0
    0xcc3f117e11494c48,  // 4.24.0 to 4.25.1
    0xe6fe5ba75607737d,  // 4.23.0
    0xeecae3adf507cbbd,  // 4.16.0 to 4.22.0
};
// 46 releases, 112 calls compared.
constexpr std::string_view k_concat_files[] = {
    "lib/puppet/parser/functions/concat.rb",
};
constexpr std::uint64_t k_concat_digests[] = {
    0x29dfa4c05a9b6ebf,  // 7.0.0 to 8.6.0
    0x634f1763eab7b8d3,  // 4.12.0 to 4.15.0
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
// 62 releases, 118 calls compared.
constexpr std::string_view k_difference_files[] = {
    "lib/puppet/parser/functions/difference.rb",
};
constexpr std::uint64_t k_difference_digests[] = {
    0x08c5c20456a8c8c5,  // 5.0.0 to 6.0.0
    0x13762f67f6099fb8,  // 7.0.0 to 8.6.0
    0x387192359806bb14,  // 9.0.0 to 9.7.0
    0x3a05eeb49a4102fd,  // 6.1.0 to 6.6.0
    0x602262978c37b333,  // 4.24.0 to 4.25.1
    0x6afca8463c32ff1e,  // 4.2.0 to 4.15.0
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
// 37 releases, 118 calls compared.
constexpr std::string_view k_fact_files[] = {
    "lib/puppet/functions/fact.rb",
};
constexpr std::uint64_t k_fact_digests[] = {
    0x0fbcf64e7f5b6315,  // 4.23.0 to 6.0.0
    0x2e5e87e204736797,  // 6.1.0 to 6.6.0
    0x49a0870d0b73e96a,  // 7.0.0 to 9.7.0
    0x933a0b752e53948e,  // 4.19.0 to 4.22.0
};
// 43 releases, 116 calls compared.
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
    0x0b3dbfdc0f03cd1f,  // 4.13.0 to 4.13.1
    0x2649f3260fb92a74,  // 4.23.0
    0x2b6a5ea14cdbe129,  // 7.0.0 to 8.2.0
    0x40f49a567f4e97c7,  // 4.7.0 to 4.12.0
    0x5e39008cb20bac37,  // 4.24.0 to 6.0.0
    0x96f8ad293fc9fa7f,  // 4.14.0 to 4.15.0
    0xaef0c57f98ce4d91,  // 4.16.0 to 4.22.0
    0xec5ae46e557ff933,  // 8.3.0 to 8.6.0
    0xf1d724a42dbc85fe,  // 6.1.0 to 6.6.0
};
// 56 releases, 113 calls compared.
constexpr std::string_view k_has_ip_network_files[] = {
    "lib/puppet/parser/functions/has_interface_with.rb",
    "lib/puppet/parser/functions/has_ip_network.rb",
};
constexpr std::uint64_t k_has_ip_network_digests[] = {
    0x1c16b9156a3fc8f0,  // 4.23.0
    0x3a586892c9ea5c5e,  // 9.0.0 to 9.7.0
    0x66e9688c8f56b3a5,  // 6.1.0 to 6.6.0
    0x824f1cb611a4a1d3,  // 4.7.0 to 4.15.0
    0xa70a41a31653f022,  // 4.16.0 to 4.22.0
    0xad730ac1d9d3edbb,  // 4.24.0 to 6.0.0
    0xbb9f446cccff6e7a,  // 7.0.0 to 8.6.0
    0xc9fef708b19a67a9,  // 4.4.0 to 4.6.0
};
// 57 releases, 112 calls compared.
constexpr std::string_view k_has_key_files[] = {
    "lib/puppet/parser/functions/has_key.rb",
};
constexpr std::uint64_t k_has_key_digests[] = {
    0x085d703e78506df4,  // 5.0.0 to 6.0.0
    0x1ced11c384c337cb,  // 6.1.0 to 6.6.0
    0x49a704ed9170ffcf,  // 4.0.0 to 4.22.0
    0x4e3a265a0b16229f,  // 7.0.0 to 8.6.0
    0x67c22383d2345dc4,  // 4.23.0
    0xced97444f4554f8c,  // 4.24.0 to 4.25.1
};
// 57 releases, 107 calls compared.
constexpr std::string_view k_hash_files[] = {
    "lib/puppet/parser/functions/hash.rb",
};
constexpr std::uint64_t k_hash_digests[] = {
    0x160223b5b993b1e7,  // 7.0.0 to 8.6.0
    0x41018d7330621d3a,  // 4.12.0 to 4.15.0
    0x6c35314d91d5e040,  // 4.24.0 to 4.25.1
    0x83703d9a83478c18,  // 4.1.0 to 4.11.0
    0x8446d40108daeb44,  // 6.1.0 to 6.6.0
    0x90a7649e66c22335,  // 5.0.0 to 6.0.0
    0x9ff4b644a392eaeb,  // 4.0.0 to 4.0.2
    0xa5e5c9062e56ab63,  // 4.23.0
    0xddb0f8f9e9a76ed1,  // 4.16.0 to 4.22.0
};
// 48 releases, 102 calls compared.
constexpr std::string_view k_is_a_files[] = {
    "lib/puppet/functions/is_a.rb",
};
constexpr std::uint64_t k_is_a_digests[] = {
    0x7f121e08df50dc11,  // 7.0.0 to 9.7.0
    0x9cdcd3ffbffa0e83,  // 4.23.0 to 6.0.0
    0xbb2515e3b2426069,  // 6.1.0 to 6.6.0
    0xd02f99daad9fbf2c,  // 4.10.0 to 4.22.0
};
// 44 releases, 125 calls compared.
constexpr std::string_view k_is_domain_name_files[] = {
    "lib/puppet/parser/functions/is_domain_name.rb",
};
constexpr std::uint64_t k_is_domain_name_digests[] = {
    0x092acefd869ddb47,  // 4.16.0 to 4.22.0
    0x26e8558766aca18d,  // 6.1.0 to 6.6.0
    0x6707e5ecc89a359f,  // 4.24.0 to 6.0.0
    0x6f4c3298d7f457f1,  // 4.6.0 to 4.15.0
    0xd2f5b2ba808473db,  // 7.0.0 to 8.6.0
    0xe2919d6420e3af49,  // 4.23.0
};
// 37 releases, 107 calls compared.
constexpr std::string_view k_is_email_address_files[] = {
    "lib/puppet/parser/functions/is_email_address.rb",
};
constexpr std::uint64_t k_is_email_address_digests[] = {
    0x54aa086e3f568237,  // 4.24.0 to 6.0.0
    0x7769eae99125fb2a,  // 4.16.0 to 4.22.0
    0x8014a865bfd1626d,  // 4.12.0 to 4.15.0
    0xa592b2c9155c9973,  // 6.1.0 to 6.6.0
    0xa7619cd4b4abbbc1,  // 7.0.0 to 8.6.0
    0xeb0128d649710847,  // 4.23.0
};
// 57 releases, 104 calls compared.
constexpr std::string_view k_is_hash_files[] = {
    "lib/puppet/parser/functions/is_hash.rb",
};
constexpr std::uint64_t k_is_hash_digests[] = {
    0x114db8ff4cc4cbd9,  // 6.1.0 to 6.6.0
    0x393fa3aac7ee2b36,  // 4.16.0 to 4.22.0
    0x4c5095b4bae49f54,  // 7.0.0 to 8.6.0
    0x52356efb2061495b,  // 4.24.0 to 6.0.0
    0xa73df873cce8b385,  // 4.23.0
    0xedfbd0be174113f5,  // 4.0.0 to 4.15.0
};
// 53 releases, 116 calls compared.
constexpr std::string_view k_is_integer_files[] = {
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_integer.rb",
    "types/compat/integer.pp",
};
constexpr std::uint64_t k_is_integer_digests[] = {
    0x0add9dba9e8d02d0,  // 4.14.0 to 4.15.0
    0x154d0702a1ea335a,  // 6.1.0 to 6.6.0
    0x20c8d1ff6ee5d47c,  // 4.13.0 to 4.13.1
    0x4b76e0c67e05516d,  // 7.0.0 to 8.2.0
    0x4f2cb4b54706994f,  // 4.16.0 to 4.22.0
    0x578a84a93d9f1aad,  // 4.24.0 to 6.0.0
    0xddc24f35f257aa65,  // 4.2.0 to 4.12.0
    0xe2bb68960ba34034,  // 8.3.0 to 8.6.0
    0xed2758c4f70aa600,  // 4.23.0
};
// 55 releases, 117 calls compared.
constexpr std::string_view k_member_files[] = {
    "lib/puppet/parser/functions/member.rb",
};
constexpr std::uint64_t k_member_digests[] = {
    0x321415ec08688c6c,  // 4.16.0 to 4.22.0
    0x5ba5c1276d28a6eb,  // 4.7.0 to 4.15.0
    0x705c6030de80b736,  // 6.1.0 to 6.6.0
    0xc46590e98c4ec872,  // 4.5.0 to 4.6.0
    0xc5781d99e21567fe,  // 9.0.0 to 9.7.0
    0xc9b3f889ced8dc9d,  // 5.0.0 to 6.0.0
    0xcdb1db06f15f1cb8,  // 4.23.0
    0xd85a9cd2b91edf6c,  // 4.24.0 to 4.25.1
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
// 62 releases, 106 calls compared.
constexpr std::string_view k_pick_files[] = {
    "lib/puppet/parser/functions/pick.rb",
};
constexpr std::uint64_t k_pick_digests[] = {
    0x1328d1a1dc8b003b,  // 4.24.0 to 5.0.0
    0x926e2bdc21d3752c,  // 4.23.0
    0xabade423c327a37f,  // 5.1.0 to 6.0.0
    0xb4a75e0a198626e7,  // 4.2.0 to 4.22.0
    0xd63e597c13b99db4,  // 8.3.0 to 8.6.0
    0xee4355d227eae691,  // 9.0.0 to 9.7.0
    0xfda19b9b7aa72221,  // 7.0.0 to 8.2.0
    0xfe608e91d92c3a09,  // 6.1.0 to 6.6.0
};
// 62 releases, 106 calls compared.
constexpr std::string_view k_pick_default_files[] = {
    "lib/puppet/parser/functions/pick_default.rb",
};
constexpr std::uint64_t k_pick_default_digests[] = {
    0x08a8d1aa57d3b4cc,  // 6.1.0 to 6.6.0
    0x0fea271b1245aab8,  // 7.0.0 to 8.6.0
    0x719dc7397047c9ca,  // 4.24.0 to 5.0.0
    0x8744d71c1e176cac,  // 4.23.0
    0x8a7b5e9fc8abb018,  // 5.1.0 to 6.0.0
    0xabc8342125ac5547,  // 9.0.0 to 9.7.0
    0xd149c051302d31cd,  // 4.2.0 to 4.22.0
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
// 53 releases, 116 calls compared.
constexpr std::string_view k_prefix_files[] = {
    "lib/puppet/parser/functions/prefix.rb",
};
constexpr std::uint64_t k_prefix_digests[] = {
    0x0add234d4c4bc5d2,  // 4.16.0 to 4.22.0
    0x2375994c8ade1799,  // 4.23.0
    0x723065328f501d87,  // 7.0.0 to 8.6.0
    0x90d21f1140e604e0,  // 5.0.0 to 6.0.0
    0xc46730be024a0834,  // 9.0.0 to 9.7.0
    0xc4d7e82796b8a9ea,  // 4.6.0 to 4.15.0
    0xf051e74ea0a90d5d,  // 6.1.0 to 6.6.0
    0xf403bbe27d7806fa,  // 4.24.0 to 4.25.1
};
// 42 releases, 102 calls compared.
constexpr std::string_view k_pry_files[] = {
    "lib/puppet/parser/functions/pry.rb",
};
constexpr std::uint64_t k_pry_digests[] = {
    0x1fb4be07abeadd49,  // 4.15.0 to 4.22.0
    0x39f4e18c4b069089,  // 4.23.0
    0x594c384caf37c5d9,  // 6.6.0
    0x5e372ae0e1b013e8,  // 7.0.0 to 8.6.0
    0x79efa15d9114754a,  // 4.24.0 to 6.0.0
    0xb745bd708208fd58,  // 9.0.0 to 9.7.0
    0xe1c9fddb4432f127,  // 6.1.0 to 6.5.0
};
// 45 releases, 107 calls compared.
constexpr std::string_view k_regexpescape_files[] = {
    "lib/puppet/parser/functions/regexpescape.rb",
};
constexpr std::uint64_t k_regexpescape_digests[] = {
    0x0ed982e3cdd51740,  // 4.23.0
    0x5016e13e4facc2e4,  // 4.24.0
    0x57fa5515a72440ae,  // 4.25.0 to 6.0.0
    0x80d7a2f05011aeeb,  // 7.0.0 to 8.6.0
    0xaab3085f7e34d460,  // 9.0.0 to 9.7.0
    0xc6fae3045c773d86,  // 4.13.0 to 4.15.0
    0xc766a983419f25b8,  // 6.1.0 to 6.6.0
    0xfe53a478cf702ee2,  // 4.16.0 to 4.22.0
};
// 66 releases, 110 calls compared.
constexpr std::string_view k_reverse_files[] = {
    "lib/puppet/parser/functions/reverse.rb",
};
constexpr std::uint64_t k_reverse_digests[] = {
    0x0e1aad667448e2d0,  // 4.16.0 to 4.22.0
    0x1b94a7e0228a21a1,  // 4.0.0 to 4.3.2
    0x21a4621f184e78ae,  // 9.0.0 to 9.7.0
    0x2f8ad74f5abcf39a,  // 5.0.0 to 6.0.0
    0x4dd02eb9d2f4dd8a,  // 4.24.0 to 4.25.1
    0xa88c1b57434ef4b6,  // 6.1.0 to 6.6.0
    0xa9c9911189d79cbb,  // 4.23.0
    0xad09a9bd6b1a582a,  // 4.4.0 to 4.15.0
    0xc2938bb49e1ae108,  // 7.0.0 to 8.6.0
};
// 11 releases, 114 calls compared.
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
    0xc3b9a823159686a5,  // 6.6.0
};
// 20 releases, 109 calls compared.
constexpr std::string_view k_seeded_rand_string_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/seeded_rand_string.rb",
    "lib/puppet/functions/stdlib/seeded_rand_string.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_seeded_rand_string_digests[] = {
    0x0cb6839d9c811688,  // 6.1.0 to 6.6.0
    0xc35455804bfcc667,  // 5.0.0 to 6.0.0
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
// 45 releases, 110 calls compared.
constexpr std::string_view k_shell_join_files[] = {
    "lib/puppet/parser/functions/shell_join.rb",
};
constexpr std::uint64_t k_shell_join_digests[] = {
    0x056852b301b0137f,  // 6.1.0 to 6.6.0
    0x21c6538a8875872c,  // 4.16.0 to 4.22.0
    0x4be406ee0e0f1362,  // 7.0.0 to 8.6.0
    0x4fa922922597c693,  // 4.13.0 to 4.15.0
    0xad761537e5e55f10,  // 4.23.0
    0xc65cef69e46c00ae,  // 9.0.0 to 9.7.0
    0xf6c2dcc024aa95a6,  // 4.24.0 to 6.0.0
};
// 45 releases, 108 calls compared.
constexpr std::string_view k_shell_split_files[] = {
    "lib/puppet/parser/functions/shell_split.rb",
};
constexpr std::uint64_t k_shell_split_digests[] = {
    0x7f4647ed02115ca0,  // 7.0.0 to 9.7.0
    0xa756246f4c537586,  // 4.13.0 to 4.15.0
    0xb3e800e069cae569,  // 6.1.0 to 6.6.0
    0xc98b5fea0ff7a29d,  // 4.23.0
    0xe5baffbfd72586f1,  // 4.24.0 to 6.0.0
    0xeeeeb44107c1ab69,  // 4.16.0 to 4.22.0
};
// 66 releases, 111 calls compared.
constexpr std::string_view k_shuffle_files[] = {
    "lib/puppet/parser/functions/shuffle.rb",
};
constexpr std::uint64_t k_shuffle_digests[] = {
    0x1e17b4090334eaf3,  // 4.23.0
    0x23c61eb9d82dedab,  // 4.4.0 to 4.15.0
    0x28c168c5ff490fd4,  // 7.0.0 to 8.6.0
    0x45d8782537d280d3,  // 9.0.0 to 9.7.0
    0x612abe5d9c53cc03,  // 6.1.0 to 6.6.0
    0x624a47db13473e30,  // 4.16.0 to 4.22.0
    0x66ba0106e9429cf9,  // 4.0.0 to 4.3.2
    0x9284304e85c05350,  // 4.24.0 to 6.0.0
};
// 20 releases, 106 calls compared.
constexpr std::string_view k_sprintf_hash_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/sprintf_hash.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_sprintf_hash_digests[] = {
    0x1431a7d2a2c91ddc,  // 7.0.0 to 8.6.0
    0x94743303cfeb3f4e,  // 5.0.0 to 6.0.0
    0xecfee30a4ce9bf6a,  // 6.1.0 to 6.6.0
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
// 20 releases, 106 calls compared.
constexpr std::string_view k_stdlib_in_end_with_files[] = {
    "lib/puppet/functions/stdlib/end_with.rb",
};
constexpr std::uint64_t k_stdlib_in_end_with_digests[] = {
    0x4d0ffd2b33b4edc8,  // 6.6.0
    0x730e0bdc36d55cfa,  // 7.0.0 to 9.7.0
};
// 27 releases, 108 calls compared.
constexpr std::string_view k_stdlib_in_extname_files[] = {
    "lib/puppet/functions/stdlib/extname.rb",
};
constexpr std::uint64_t k_stdlib_in_extname_digests[] = {
    0x032e6518b7b71bd8,  // 7.0.0 to 9.7.0
    0x24ac4218b5daa617,  // 6.1.0 to 6.6.0
    0x6ca7e4e53880591e,  // 5.2.0 to 6.0.0
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
// 20 releases, 105 calls compared.
constexpr std::string_view k_stdlib_in_start_with_files[] = {
    "lib/puppet/functions/stdlib/start_with.rb",
};
constexpr std::uint64_t k_stdlib_in_start_with_digests[] = {
    0x7c72427d92924a55,  // 6.6.0
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
// 45 releases, 104 calls compared.
constexpr std::string_view k_str2bool_files[] = {
    "lib/puppet/parser/functions/str2bool.rb",
};
constexpr std::uint64_t k_str2bool_digests[] = {
    0x2239c7929d0e1d22,  // 6.1.0 to 6.6.0
    0x2a535bfbcb799d3f,  // 9.0.0 to 9.7.0
    0x46c3a97357437e13,  // 4.24.0 to 4.25.1
    0x5593e5410b9ec5fb,  // 4.16.0 to 4.22.0
    0x92d663d45e2493e6,  // 4.13.0 to 4.15.0
    0xae559444339fdca3,  // 4.23.0
    0xe856be758fe517da,  // 7.0.0 to 8.6.0
    0xffb101bfbf731d45,  // 5.0.0 to 6.0.0
};
// 23 releases, 109 calls compared.
constexpr std::string_view k_str2saltedpbkdf2_files[] = {
    "lib/puppet/parser/functions/str2saltedpbkdf2.rb",
};
constexpr std::uint64_t k_str2saltedpbkdf2_digests[] = {
    0x164d01fea9a30453,  // 8.2.0 to 8.6.0
    0x906be2acde359411,  // 7.0.0 to 8.1.0
    0x98aa006e0d30f7a5,  // 6.3.0 to 6.6.0
    0xac630854bf26fe18,  // 9.0.0 to 9.7.0
};
// 46 releases, 116 calls compared.
constexpr std::string_view k_suffix_files[] = {
    "lib/puppet/parser/functions/suffix.rb",
};
constexpr std::uint64_t k_suffix_digests[] = {
    0x2fa55b68a5c29aff,  // 5.0.0 to 6.0.0
    0x4bb547fa10752b11,  // 4.12.0 to 4.15.0
    0x57c4e99808425726,  // 9.0.0 to 9.7.0
    0x5c4a4e0200921da2,  // 4.16.0 to 4.22.0
    0x6e113c9706e1451a,  // 4.24.0 to 4.25.1
    0x842892d15da56160,  // 6.1.0 to 6.6.0
    0x8d6f678151066a51,  // 7.0.0 to 8.6.0
    0x9329e9bd0f328f10,  // 4.23.0
};
// 15 releases, 111 calls compared.
constexpr std::string_view k_to_json_pretty_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/to_json_pretty.rb",
    "lib/puppet/functions/to_json_pretty.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_to_json_pretty_digests[] = {
    0x01558ff530320811,  // 7.0.0 to 8.6.0
    0x285188f3f5a04876,  // 6.3.0
    0x2e05561ea8a68ea7,  // 6.2.0
    0xea7390fc54e3e6ba,  // 6.4.0 to 6.6.0
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
// 23 releases, 102 calls compared.
constexpr std::string_view k_type3x_files[] = {
    "lib/puppet/parser/functions/type3x.rb",
};
constexpr std::uint64_t k_type3x_digests[] = {
    0x0059849c9638f267,  // 5.0.0 to 6.0.0
    0x34422e8ca80b76b2,  // 4.24.0 to 4.25.1
    0x76438df27f27aaba,  // 7.0.0 to 8.6.0
    0xa68b7c696736027f,  // 6.1.0 to 6.6.0
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
// 50 releases, 118 calls compared.
constexpr std::string_view k_union_files[] = {
    "lib/puppet/parser/functions/union.rb",
};
constexpr std::uint64_t k_union_digests[] = {
    0x006efd498d1ee0f1,  // 4.24.0 to 6.0.0
    0x243e8ff3a5b03e19,  // 6.1.0 to 6.6.0
    0x652757a7d123b7e6,  // 4.23.0
    0x70dca40011b240bb,  // 4.9.0 to 4.15.0
    0x73e20e83e7c87909,  // 4.16.0 to 4.22.0
    0x9162c0517db917a1,  // 9.0.0 to 9.7.0
    0xe11e208be3489716,  // 7.0.0 to 8.6.0
};
// 50 releases, 102 calls compared.
constexpr std::string_view k_unix2dos_files[] = {
    "lib/puppet/parser/functions/unix2dos.rb",
};
constexpr std::uint64_t k_unix2dos_digests[] = {
    0x17b54fcb6d5c28d7,  // 6.1.0 to 6.6.0
    0x2503a8aa859dda32,  // 4.9.0 to 4.22.0
    0x5296c3bad204847b,  // 4.23.0
    0x5a72f19264a0e5ac,  // 4.24.0 to 6.0.0
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
// 52 releases, 104 calls compared.
constexpr std::string_view k_validate_augeas_files[] = {
    "lib/puppet/parser/functions/validate_augeas.rb",
};
constexpr std::uint64_t k_validate_augeas_digests[] = {
    0x06ccdbea2abc6b75,  // 4.7.0 to 4.22.0
    0x135b853baa93a1c5,  // 6.1.0 to 6.6.0
    0x136b4720be816a41,  // 4.24.0 to 6.0.0
    0x532ec1f30bad2ae0,  // 9.0.0 to 9.7.0
    0x5da7665863048466,  // 4.23.0
    0x623830bba325df35,  // 7.0.0 to 8.6.0
};
// 28 releases, 116 calls compared.
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
    0x1937a10d392d6aca,  // 4.25.0 to 6.0.0
    0x1ea39fb3b2bf2515,  // 6.3.0 to 6.6.0
    0x2cbe12f43c7e436c,  // 4.24.0
    0x2d34deedd8851bbf,  // 4.19.0 to 4.22.0
    0x4cff6d32a9c8fc4a,  // 8.3.0 to 8.6.0
    0x659cb0a46b322c79,  // 6.1.0 to 6.2.0
    0x66a768a08847a738,  // 4.23.0
    0xa587a45f7cc672f5,  // 7.0.0 to 8.2.0
};
// 37 releases, 108 calls compared.
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
    0x0b8306fd76268a8e,  // 4.24.0 to 6.0.0
    0x4140fda5010d7576,  // 4.12.0
    0x70d559e8b8543daa,  // 4.14.0 to 4.15.0
    0x770e25f0c4cf748c,  // 8.3.0 to 8.6.0
    0x7e952d5f35876dea,  // 4.16.0 to 4.22.0
    0x8ed6b137450d14dd,  // 4.23.0
    0xb82cf51ad0767070,  // 6.1.0 to 6.6.0
    0xd6ed555993e00c6e,  // 7.0.0 to 8.0.0
    0xfae620283d61addc,  // 8.1.0 to 8.2.0
    0xfff9c8069e99f5a5,  // 4.13.0 to 4.13.1
};
// 46 releases, 108 calls compared.
constexpr std::string_view k_validate_x509_rsa_key_pair_files[] = {
    "lib/puppet/parser/functions/validate_x509_rsa_key_pair.rb",
};
constexpr std::uint64_t k_validate_x509_rsa_key_pair_digests[] = {
    0x13ee03944ca18c8a,  // 4.12.0 to 4.22.0
    0x153d1fa5bb0a234d,  // 4.24.0 to 6.0.0
    0x67727cb2df775829,  // 4.23.0
    0x7f4edde4565d1605,  // 7.0.0 to 8.2.0
    0xabf5880d686709ab,  // 9.0.0 to 9.7.0
    0xd1375e226c595390,  // 8.3.0 to 8.6.0
    0xf839bf9790d3b0ca,  // 6.1.0 to 6.6.0
};
// 56 releases, 129 calls compared.
constexpr std::string_view k_values_at_files[] = {
    "lib/puppet/parser/functions/values_at.rb",
};
constexpr std::uint64_t k_values_at_digests[] = {
    0x08f564d1b0ba1cb9,  // 6.1.0 to 6.6.0
    0x247392d38c73d7a5,  // 7.0.0 to 8.6.0
    0x75f616cdaa422c47,  // 4.24.0 to 4.25.1
    0x9889742a0ab8d045,  // 5.0.0 to 6.0.0
    0xab5f26726ef10787,  // 4.4.0 to 4.15.0
    0xb7a420f42696ef71,  // 9.0.0 to 9.7.0
    0xc21746fca8b259b6,  // 4.16.0 to 4.22.0
    0xddc2b322584263c0,  // 4.23.0
};
// 66 releases, 112 calls compared.
constexpr std::string_view k_zip_files[] = {
    "lib/puppet/parser/functions/str2bool.rb",
    "lib/puppet/parser/functions/zip.rb",
};
constexpr std::uint64_t k_zip_digests[] = {
    0x08f2e40f6937ca56,  // 4.2.0 to 4.3.2
    0x13ff9f35f18fe154,  // 4.10.0 to 4.12.0
    0x174054bc5e5576ed,  // 4.13.0 to 4.15.0
    0x26b8cc6e377caac8,  // 5.0.0 to 6.0.0
    0x4cab43260e298f67,  // 4.24.0 to 4.25.1
    0x5a79f612dd8cc604,  // 4.16.0 to 4.22.0
    0x7d3c9434e7369eb5,  // 6.1.0 to 6.6.0
    0x8087e4126b8d649f,  // 4.23.0
    0xb4e83891e23ddd7d,  // 4.4.0 to 4.9.1
    0xb82bf249f628fd0e,  // 4.0.0 to 4.1.0
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

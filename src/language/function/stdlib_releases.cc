// Made by tools/stdlib_releases/compare: not to be edited. Releases of puppetlabs-stdlib 4.0.0 to
// 9.7.0 beside Puppet 8.11.
#include "language/function/stdlib_releases.h"

#include <algorithm>

namespace bunraku::function {
namespace {

// clang-format off
// 66 releases, 112 calls compared.
constexpr std::string_view k_any2array_files[] = {
    "lib/puppet/parser/functions/any2array.rb",
};
constexpr std::uint64_t k_any2array_digests[] = {
    0x283d79db50814566,  // 6.1.0 to 6.6.0
    0x2cba2f77cb2cdc1c,  // 9.0.0 to 9.7.0
    0x536b7359f743a4ed,  // 5.0.0 to 6.0.0
    0xaa225cf6d4d4a758,  // 7.0.0 to 8.6.0
};
constexpr std::uint64_t k_any2array_usual[] = {
    0x00ca4eace9fafc64,  // 4.23.0
    0xbc6fd7884ce8880d,  // 4.24.0 to 4.25.1
    0xfceba6870ca0c155,  // 4.0.0 to 4.22.0
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
// 53 releases, 111 calls compared.
constexpr std::string_view k_assert_private_files[] = {
    "lib/puppet/parser/functions/assert_private.rb",
};
constexpr std::uint64_t k_assert_private_usual[] = {
    0x057541997e77a265,  // 9.0.0 to 9.7.0
    0x287205a78f6b3715,  // 4.6.0 to 4.15.0
    0x3faf65b4fd8d12a6,  // 4.23.0
    0x4c3aaf6b1560bcda,  // 7.0.0 to 8.6.0
    0xb165dfde23606865,  // 6.1.0 to 6.6.0
    0xe86c519b0748e562,  // 4.24.0 to 6.0.0
    0xf015d5caae1645da,  // 4.16.0 to 4.22.0
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
// 66 releases, 112 calls compared.
constexpr std::string_view k_count_files[] = {
    "lib/puppet/parser/functions/count.rb",
};
constexpr std::uint64_t k_count_usual[] = {
    0x37b5d9cfa98e1802,  // 7.0.0 to 8.6.0
    0x478aff310b464503,  // 4.23.0
    0x4f3e7a0395bebbc6,  // 4.24.0 to 4.25.1
    0x60c9892848ccbac4,  // 4.16.0 to 4.22.0
    0x885157f15766730d,  // 6.1.0 to 6.6.0
    0xc66616afc9effed3,  // 4.0.0 to 4.15.0
    0xc6acc45a57a2bd9e,  // 5.0.0 to 6.0.0
    0xcc321702502958be,  // 9.0.0 to 9.7.0
};
// 62 releases, 133 calls compared.
constexpr std::string_view k_deep_merge_files[] = {
    "lib/puppet/parser/functions/deep_merge.rb",
};
constexpr std::uint64_t k_deep_merge_usual[] = {
    0x21700bffd44b0c2a,  // 4.2.0 to 4.22.0
    0x48a5d52a4d950696,  // 6.1.0 to 6.6.0
    0x67f11eea810f8967,  // 7.0.0 to 8.6.0
    0x9c5ffacc018b037c,  // 4.23.0
    0xa1e36a52dd37d2c7,  // 4.24.0 to 6.0.0
    0xa8caad024821498e,  // 9.0.0 to 9.7.0
};
// 66 releases, 161 calls compared.
constexpr std::string_view k_defined_with_params_files[] = {
    "lib/puppet/parser/functions/defined_with_params.rb",
};
constexpr std::uint64_t k_defined_with_params_usual[] = {
    0x1400c9fc1e462e65,  // 6.4.0 to 6.6.0
    0x5a67fe358a6c0cad,  // 4.0.0 to 4.12.0
    0x600e8b3e2b149813,  // 6.1.0 to 6.3.0
    0x71889a5c530b0415,  // 4.24.0 to 5.1.0
    0x849f2ed239051ba5,  // 4.13.0 to 4.16.0
    0xb50361a74c807483,  // 7.0.0 to 8.2.0
    0xd0221b1e85b868e9,  // 4.17.1 to 4.22.0
    0xdb5bf96700627740,  // 4.23.0
    0xddd6c5225130a0df,  // 5.2.0 to 6.0.0
    0xe2dd7dca549fb4f4,  // 9.0.0 to 9.7.0
    0xe4b9dbd56c72a9b4,  // 8.3.0 to 8.6.0
    0xe6f23b9afbc0327d,  // 4.17.0
};
// 45 releases, 131 calls compared.
constexpr std::string_view k_delete_files[] = {
    "lib/puppet/parser/functions/delete.rb",
};
constexpr std::uint64_t k_delete_usual[] = {
    0x2cc24ea3f5f21655,  // 6.1.0 to 6.6.0
    0x3471f918014d72c0,  // 4.13.0 to 4.15.0
    0x356e2a2d92b58575,  // 4.16.0 to 4.22.0
    0x4d22523009ffa3c9,  // 5.0.0 to 6.0.0
    0x7e346d5c2a535756,  // 7.0.0 to 9.7.0
    0x86c0a17f428baa3b,  // 4.24.0 to 4.25.1
    0xde7a275cabcf408b,  // 4.23.0
};
// 66 releases, 111 calls compared.
constexpr std::string_view k_delete_at_files[] = {
    "lib/puppet/parser/functions/delete_at.rb",
};
constexpr std::uint64_t k_delete_at_usual[] = {
    0x0ca1e97c04c38485,  // 4.24.0 to 4.25.1
    0x4be06c4e820d19c2,  // 5.0.0 to 6.0.0
    0x5c5b9c47860c2d4f,  // 7.0.0 to 8.6.0
    0x5f705106cf44d02d,  // 4.16.0 to 4.22.0
    0x8c7c917be96e0bc7,  // 6.1.0 to 6.6.0
    0x90a10a7dd6d4c181,  // 9.0.0 to 9.7.0
    0xc22b0d7b5de08cfa,  // 4.23.0
    0xf62273d6a5ad9af7,  // 4.0.0 to 4.15.0
};
// 45 releases, 122 calls compared.
constexpr std::string_view k_delete_regex_files[] = {
    "lib/puppet/parser/functions/delete_regex.rb",
};
constexpr std::uint64_t k_delete_regex_usual[] = {
    0x4c00e11cea804919,  // 6.1.0 to 6.6.0
    0x78e5ef03fa71beb8,  // 5.0.0 to 6.0.0
    0x7c04e1361dd7163b,  // 7.0.0 to 9.7.0
    0x81649513d0ee3e89,  // 4.13.0 to 4.15.0
    0xabb38a113e908fb6,  // 4.23.0
    0xdc1f85cf8690b872,  // 4.24.0 to 4.25.1
    0xe444bac594216603,  // 4.16.0 to 4.22.0
};
// 28 releases, 106 calls compared.
constexpr std::string_view k_delete_undef_values_files[] = {
    "lib/puppet/parser/functions/delete_undef_values.rb",
};
constexpr std::uint64_t k_delete_undef_values_usual[] = {
    0x05dc97a9e1ac8dad,  // 6.1.0 to 6.6.0
    0x293dd4d067c581d4,  // 5.1.0 to 6.0.0
    0x43870f22c3666638,  // 9.0.0 to 9.7.0
    0x5677b0c877a41bb0,  // 7.0.0 to 8.6.0
};
// 62 releases, 113 calls compared.
constexpr std::string_view k_delete_values_files[] = {
    "lib/puppet/parser/functions/delete_values.rb",
};
constexpr std::uint64_t k_delete_values_usual[] = {
    0x225579dcd6aa734a,  // 9.0.0 to 9.7.0
    0x3aac36e181d41da9,  // 4.2.0 to 4.15.0
    0x455c71a83d525689,  // 4.24.0 to 4.25.1
    0x86816528942e4e9a,  // 4.23.0
    0x9991e5d9ed0932a1,  // 4.16.0 to 4.22.0
    0xa8fe5119add8e175,  // 7.0.0 to 8.6.0
    0xc1f743e230739836,  // 5.0.0 to 6.0.0
    0xf2f464895e35caa3,  // 6.1.0 to 6.6.0
};
// 43 releases, 123 calls compared.
constexpr std::string_view k_deprecation_files[] = {
    "lib/puppet/functions/deprecation.rb",
};
constexpr std::uint64_t k_deprecation_usual[] = {
    0x3cf92f419cd33690,  // 6.1.0 to 6.6.0
    0x5673ca97d4e92d9d,  // 9.2.0 to 9.7.0
    0x7a67b3e32606dfdc,  // 4.23.0 to 6.0.0
    0xb1233053d7620df8,  // 9.0.0 to 9.1.0
    0xcdbc5a1ea7bd50ba,  // 7.0.0 to 8.6.0
    0xf007e4daf513bce6,  // 4.14.0 to 4.22.0
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
// 36 releases, 104 calls compared.
constexpr std::string_view k_dig44_files[] = {
    "lib/puppet/parser/functions/dig44.rb",
};
constexpr std::uint64_t k_dig44_usual[] = {
    0x0391657fb388b4b9,  // 4.16.0 to 4.22.0
    0x0903c44ab9409f8b,  // 4.24.0
    0x2a9d845ff68b80cd,  // 4.13.0 to 4.15.0
    0x38c76df79693845b,  // 5.0.0 to 6.0.0
    0x9a9e2a875890b156,  // 4.25.0 to 4.25.1
    0xcc0501b06d5d5cdc,  // 6.1.0 to 6.6.0
    0xcfb8caaab5f6d763,  // 4.23.0
    0xda6e8f14e6ef7530,  // 8.3.0 to 8.6.0
    0xed58bf2dad017996,  // 7.0.0 to 8.2.0
};
// 53 releases, 108 calls compared.
constexpr std::string_view k_dirname_files[] = {
    "lib/puppet/parser/functions/dirname.rb",
};
constexpr std::uint64_t k_dirname_digests[] = {
    0x447b31a464f690b2,  // 5.0.0 to 6.0.0
    0xbaa52e242f950402,  // 6.1.0 to 6.6.0
    0xfa51a61c1153d2e4,  // 7.0.0 to 8.6.0
    0xfdc5e45d49744c3a,  // 9.0.0 to 9.7.0
};
constexpr std::uint64_t k_dirname_usual[] = {
    0x041b27650de6c123,  // 4.24.0 to 4.25.1
    0x0e7596c71182f734,  // 4.6.0 to 4.22.0
    0x93d32160c028c251,  // 4.23.0
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
// 46 releases, 102 calls compared.
constexpr std::string_view k_enclose_ipv6_files[] = {
    "lib/puppet/parser/functions/enclose_ipv6.rb",
};
constexpr std::uint64_t k_enclose_ipv6_usual[] = {
    0x0f94e728277f2c15,  // 7.0.0 to 8.6.0
    0x239a6c85023256de,  // 9.0.0 to 9.7.0
    0x2e47c146e8d91c5f,  // 4.12.0 to 4.15.0
    0x4cc94237d693b7a2,  // 6.1.0 to 6.6.0
    0x533e807e9f571dd6,  // 4.24.0 to 6.0.0
    0xe1f8ac481fbd42fe,  // 4.23.0
    0xe58c04c4a24c571b,  // 4.16.0 to 4.22.0
};
// 7 releases, 468 calls compared.
constexpr std::string_view k_ensure_packages_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/ensure_packages.rb",
    "lib/puppet/functions/stdlib/ensure_packages.rb",
    "lib/puppet/parser/functions/defined_with_params.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/ensure_packages.rb",
    "lib/puppet/parser/functions/ensure_resource.rb",
    "lib/puppet/parser/functions/ensure_resources.rb",
};
constexpr std::uint64_t k_ensure_packages_usual[] = {
    0x3b7869d1bc7d57d3,  // 8.6.0
    0x6c7c5a7c64d63a95,  // 8.0.0 to 8.2.0
    0xcd87ff445f3f9c4f,  // 8.3.0 to 8.5.0
};
// 22 releases, 544 calls compared.
constexpr std::string_view k_ensure_resource_files[] = {
    "lib/puppet/parser/functions/defined_with_params.rb",
    "lib/puppet/parser/functions/ensure_resource.rb",
};
constexpr std::uint64_t k_ensure_resource_usual[] = {
    0x12cffb9004888d24,  // 8.3.0 to 8.6.0
    0x47c6c92809e30e0e,  // 9.0.0 to 9.7.0
    0x595b892994618cdf,  // 6.4.0 to 6.6.0
    0xca41bc0eceb348c0,  // 7.0.0 to 8.2.0
};
// 46 releases, 271 calls compared.
constexpr std::string_view k_ensure_resources_files[] = {
    "lib/puppet/parser/functions/defined_with_params.rb",
    "lib/puppet/parser/functions/ensure_resource.rb",
    "lib/puppet/parser/functions/ensure_resources.rb",
};
constexpr std::uint64_t k_ensure_resources_usual[] = {
    0x0c190b9aa39711be,  // 4.17.0
    0x132cbf1b2a907c28,  // 4.17.1 to 4.22.0
    0x2613615ee424e77d,  // 4.23.0
    0x29b46a87c70da752,  // 4.14.0 to 4.16.0
    0x394452a413506ae9,  // 4.24.0 to 5.1.0
    0x7626619b88e4ed94,  // 5.2.0 to 6.0.0
    0x7a83189cf1a9d67e,  // 6.4.0 to 6.6.0
    0x7b95af33ece97f38,  // 4.13.0 to 4.13.1
    0x7df71b71b15a7602,  // 7.0.0 to 8.2.0
    0x8eb0217b95e7b8e7,  // 4.12.0
    0x9cbda8cb8030acae,  // 6.1.0 to 6.3.0
    0xb589bc83c27b29fb,  // 9.0.0 to 9.7.0
    0xf80009e2861845fe,  // 8.3.0 to 8.6.0
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
// 43 releases, 104 calls compared.
constexpr std::string_view k_fqdn_rotate_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/fqdn_rotate.rb",
    "lib/puppet/functions/stdlib/fqdn_rotate.rb",
    "lib/puppet/parser/functions/fqdn_rotate.rb",
};
constexpr std::uint64_t k_fqdn_rotate_usual[] = {
    0x14bd77465670f7be,  // 4.13.0 to 4.13.1
    0x38a0bcc8760bec73,  // 4.7.0 to 4.12.0
    0x3d4192d89df24d47,  // 4.16.0 to 4.22.0
    0x3f87a613e55b1dff,  // 4.24.0 to 6.0.0
    0x5d0070bfa80ce559,  // 7.0.0 to 8.2.0
    0x8b5967ba5990eb82,  // 4.23.0
    0xa7ba971a32963534,  // 4.14.0 to 4.15.0
    0xa7e4ab832167af5e,  // 8.3.0 to 8.6.0
    0xd960766c657bf8c5,  // 6.1.0 to 6.6.0
};
// 42 releases, 105 calls compared.
constexpr std::string_view k_fqdn_uuid_files[] = {
    "lib/puppet/parser/functions/fqdn_uuid.rb",
};
constexpr std::uint64_t k_fqdn_uuid_usual[] = {
    0x39e997a77113d082,  // 4.24.0 to 6.0.0
    0x92a825ebf972fbb9,  // 4.15.0 to 4.22.0
    0xa45b95daaf09caee,  // 7.0.0 to 8.6.0
    0xcc5d868b2fd6934e,  // 4.23.0
    0xeef7149c3f2e02f0,  // 9.0.0 to 9.7.0
    0xf342de78c6ca6141,  // 6.1.0 to 6.6.0
};
// 66 releases, 148 calls compared.
constexpr std::string_view k_getparam_files[] = {
    "lib/puppet/parser/functions/getparam.rb",
};
constexpr std::uint64_t k_getparam_usual[] = {
    0x1e46ba2a737d9c58,  // 4.24.0 to 4.25.1
    0x2b734a2353791229,  // 4.23.0
    0x2db1512982b900ae,  // 7.0.0 to 8.2.0
    0xa7f84fa726bd8590,  // 9.0.0 to 9.7.0
    0xb786418a966e001c,  // 5.0.0 to 6.0.0
    0xbdcd42aa145eb126,  // 4.13.0 to 4.22.0
    0xdea798d66e86ac37,  // 4.0.0 to 4.12.0
    0xe26b00dc232f6b05,  // 6.1.0 to 6.6.0
    0xf463dd9f3409bdbd,  // 8.3.0 to 8.6.0
};
// 66 releases, 110 calls compared.
constexpr std::string_view k_grep_files[] = {
    "lib/puppet/parser/functions/grep.rb",
};
constexpr std::uint64_t k_grep_usual[] = {
    0x1eca2909564407c6,  // 6.1.0 to 6.6.0
    0x211d3fcc8d42f5c8,  // 5.0.0 to 6.0.0
    0x309703708c2784d6,  // 4.24.0 to 4.25.1
    0x34977da984e9766f,  // 7.0.0 to 8.6.0
    0x414ef11429fc7e88,  // 9.0.0 to 9.7.0
    0x841b61aac689703b,  // 4.23.0
    0xa4e9af182812b992,  // 4.16.0 to 4.22.0
    0xb2db63d14ca4fa6f,  // 4.0.0 to 4.15.0
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
// 62 releases, 118 calls compared.
constexpr std::string_view k_intersection_files[] = {
    "lib/puppet/parser/functions/intersection.rb",
};
constexpr std::uint64_t k_intersection_usual[] = {
    0x1d63e122b28eebfa,  // 4.16.0 to 4.22.0
    0x1e7138353db446b4,  // 6.3.0 to 6.6.0
    0x28bb3c39f2b248b2,  // 4.2.0 to 4.9.1
    0x2f5efeaadcd45ab9,  // 4.23.0
    0x7fdbef95ac43aa6e,  // 4.24.0 to 6.0.0
    0x88af5d593afac1c9,  // 9.0.0 to 9.7.0
    0xcd836c94404b71a8,  // 4.10.0 to 4.15.0
    0xd17a6311d3db5a73,  // 7.0.0 to 8.6.0
    0xf763ffd49dc4892e,  // 6.1.0 to 6.2.0
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
// 34 releases, 102 calls compared.
constexpr std::string_view k_is_absolute_path_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/is_absolute_path.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_absolute_path.rb",
    "types/compat/absolute_path.pp",
};
constexpr std::uint64_t k_is_absolute_path_usual[] = {
    0x0b16bce68c2aac68,  // 4.23.0
    0x0f80d7cbc08cbc4c,  // 6.3.0 to 6.5.0
    0x60ed964c1649a984,  // 6.1.0 to 6.2.0
    0x6d63b92479d80f43,  // 6.6.0
    0x7dedc16390c870f9,  // 7.0.0 to 8.2.0
    0x965357692799ce55,  // 4.16.0 to 4.22.0
    0xb05db098232f25d3,  // 4.24.0 to 6.0.0
    0xb67f2b9aacdc62b5,  // 8.3.0 to 8.6.0
    0xdf9f277551fce809,  // 4.14.0 to 4.15.0
};
// 34 releases, 109 calls compared.
constexpr std::string_view k_is_array_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/is_array.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_array.rb",
    "types/compat/array.pp",
};
constexpr std::uint64_t k_is_array_digests[] = {
    0x057160ae0eeea9d5,  // 8.3.0 to 8.6.0
    0x37a24312c9aa1463,  // 6.3.0 to 6.6.0
    0x70e72d79ae2bad0c,  // 4.16.0 to 4.22.0
    0x760e2d893c98cead,  // 4.24.0 to 6.0.0
    0x912f2aa89b64bf72,  // 4.23.0
    0x9c27608057acf65e,  // 7.0.0 to 8.2.0
    0xe72e314b32bbfd3d,  // 4.14.0 to 4.15.0
    0xe7fdfc971e7c2ff1,  // 6.1.0 to 6.2.0
};
// 34 releases, 107 calls compared.
constexpr std::string_view k_is_bool_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/is_bool.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_bool.rb",
    "types/compat/bool.pp",
};
constexpr std::uint64_t k_is_bool_digests[] = {
    0x242385e4f9c6c65c,  // 6.3.0 to 6.6.0
    0x413d6553f89cd1e4,  // 6.1.0 to 6.2.0
    0x5a9da48208880608,  // 7.0.0 to 8.2.0
    0x5d0af8fcf0bc2d6b,  // 8.3.0 to 8.6.0
    0x8684ba4fd7aa3396,  // 4.16.0 to 4.22.0
    0x9d51b5d1492d4288,  // 4.24.0 to 6.0.0
    0xb514488fc574bc33,  // 4.23.0
    0xea868bb57105ba31,  // 4.14.0 to 4.15.0
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
// 34 releases, 112 calls compared.
constexpr std::string_view k_is_float_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/is_float.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_float.rb",
    "types/compat/float.pp",
};
constexpr std::uint64_t k_is_float_digests[] = {
    0x4efcaeb2f4782399,  // 4.14.0 to 4.15.0
    0x514557931fb1f1cc,  // 7.0.0 to 8.2.0
    0x56ec819280c7ed6d,  // 8.3.0 to 8.6.0
    0x610a6b7012826289,  // 4.16.0 to 4.22.0
    0x76684617dd249a58,  // 4.24.0 to 6.0.0
    0x85e963ceb7ec1659,  // 4.23.0
    0xacab349ac822f310,  // 6.1.0 to 6.2.0
    0xeeba093b6763afdb,  // 6.3.0 to 6.6.0
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
// 34 releases, 115 calls compared.
constexpr std::string_view k_is_ip_address_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/is_ip_address.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_ip_address.rb",
    "types/compat/ip_address.pp",
    "types/compat/ipv4.pp",
    "types/compat/ipv6.pp",
};
constexpr std::uint64_t k_is_ip_address_digests[] = {
    0x0735c87aeeeb01b5,  // 4.23.0
    0x2bca09c8a719b3b7,  // 4.14.0 to 4.15.0
    0x8f48431495331824,  // 7.0.0 to 8.2.0
    0x9239eac9d981f0da,  // 4.16.0 to 4.22.0
    0x95fd41aaae5ada8b,  // 4.24.0 to 6.0.0
    0xa2d1d8e63fe898c5,  // 8.3.0 to 8.6.0
    0xa4cd2bde1d805bd1,  // 6.3.0 to 6.6.0
    0xf2d749539eceaba0,  // 6.1.0 to 6.2.0
};
// 34 releases, 106 calls compared.
constexpr std::string_view k_is_ipv4_address_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/is_ipv4_address.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_ipv4_address.rb",
    "types/compat/ipv4.pp",
};
constexpr std::uint64_t k_is_ipv4_address_digests[] = {
    0x1b8bb724384e61e9,  // 8.3.0 to 8.6.0
    0x22e41b98a4698010,  // 4.23.0
    0x337513903f989cda,  // 4.14.0 to 4.15.0
    0x54b94fff0422520e,  // 7.0.0 to 8.2.0
    0x593cc6175040eced,  // 4.24.0 to 6.0.0
    0x5e4cb300f6f1f619,  // 6.1.0 to 6.2.0
    0x74549e23d9a9c605,  // 4.16.0 to 4.22.0
    0xb5fbed73369a494b,  // 6.3.0 to 6.6.0
};
// 34 releases, 108 calls compared.
constexpr std::string_view k_is_ipv6_address_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/is_ipv6_address.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_ipv6_address.rb",
    "types/compat/ipv6.pp",
};
constexpr std::uint64_t k_is_ipv6_address_digests[] = {
    0x46e9139fd7d159e6,  // 4.14.0 to 4.15.0
    0x75ef712091cf1217,  // 6.1.0 to 6.2.0
    0x981ad494c4e4c2df,  // 4.16.0 to 4.22.0
    0xa5820edab18ea692,  // 7.0.0 to 8.2.0
    0xa909bec2f2b05559,  // 6.3.0 to 6.6.0
    0xac438bd86a19618a,  // 4.24.0 to 6.0.0
    0xb5ed727b92b0e514,  // 8.3.0 to 8.6.0
    0xd3b1b9eb0c1e16ef,  // 4.23.0
};
// 34 releases, 117 calls compared.
constexpr std::string_view k_is_numeric_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/is_numeric.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_numeric.rb",
    "types/compat/numeric.pp",
};
constexpr std::uint64_t k_is_numeric_digests[] = {
    0x12c5207d35569ff1,  // 4.14.0 to 4.15.0
    0x432575e2df0ba11c,  // 6.1.0 to 6.2.0
    0x90919097afff4dfa,  // 7.0.0 to 8.2.0
    0xa38375185d1409b6,  // 4.16.0 to 4.22.0
    0xc363caad3699ea5c,  // 8.3.0 to 8.6.0
    0xcf5505a754bc0bae,  // 4.24.0 to 6.0.0
    0xd90c390408cf0283,  // 4.23.0
    0xf8161f66d5aaf672,  // 6.3.0 to 6.6.0
};
// 34 releases, 116 calls compared.
constexpr std::string_view k_is_string_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/is_string.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_string.rb",
    "types/compat/string.pp",
};
constexpr std::uint64_t k_is_string_digests[] = {
    0x08aad65fb66b3dd3,  // 4.23.0
    0x0c759042528d499d,  // 4.14.0 to 4.15.0
    0x13cb8bd5b664637a,  // 8.3.0 to 8.6.0
    0x86529e98d60dd65e,  // 6.3.0 to 6.6.0
    0xb00cc6ce5f35784c,  // 4.16.0 to 4.22.0
    0xc6832d480791af4a,  // 6.1.0 to 6.2.0
    0xdd3ecb49cc92566a,  // 7.0.0 to 8.2.0
    0xf00d3d2b4e522891,  // 4.24.0 to 6.0.0
};
// 43 releases, 115 calls compared.
constexpr std::string_view k_join_keys_to_values_files[] = {
    "lib/puppet/parser/functions/join_keys_to_values.rb",
};
constexpr std::uint64_t k_join_keys_to_values_usual[] = {
    0x0b9c519ab63f1213,  // 9.0.0 to 9.7.0
    0x30dacde89dc5950c,  // 7.0.0 to 8.6.0
    0x39836b7bd29fce09,  // 6.1.0 to 6.6.0
    0x42de919c2eb0f4ad,  // 4.14.0 to 4.15.0
    0x546189f90b4b4aff,  // 4.16.0 to 4.22.0
    0x6790b532efab556e,  // 4.25.0 to 4.25.1
    0xabd554edab985c3b,  // 4.24.0
    0xd7d1568659177113,  // 5.0.0 to 6.0.0
    0xe9a269a60091de18,  // 4.23.0
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
// 57 releases, 142 calls compared.
constexpr std::string_view k_merge_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/merge.rb",
    "lib/puppet/functions/stdlib/merge.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/merge.rb",
};
constexpr std::uint64_t k_merge_usual[] = {
    0x157739583ae556f3,  // 4.23.0
    0x2dbb71cca32483bb,  // 4.14.0 to 4.15.0
    0x8129e804d2365b37,  // 4.13.0 to 4.13.1
    0x99522b69279392e4,  // 4.0.0 to 4.1.0
    0xacd72d2b97fe16eb,  // 4.16.0 to 4.22.0
    0xba90486e7a02f89b,  // 6.0.0
    0xc40a8a8618ac48e2,  // 7.0.0 to 7.1.0
    0xda9c94a664b4cbe5,  // 4.2.0 to 4.12.0
    0xe53abee0908209c6,  // 4.24.0 to 4.25.1
    0xe5e40c8305d45a74,  // 8.0.0 to 8.6.0
    0xfa6399336d987bc0,  // 5.0.0 to 5.2.0
    0xff4308db6bc150e3,  // 6.1.0 to 6.6.0
};
// 66 releases, 113 calls compared.
constexpr std::string_view k_num2bool_files[] = {
    "lib/puppet/parser/functions/num2bool.rb",
};
constexpr std::uint64_t k_num2bool_usual[] = {
    0x0aca491eb28d7a9c,  // 9.0.0 to 9.7.0
    0x206b3673de5de014,  // 5.0.0 to 6.0.0
    0x4fe4067cceff6de3,  // 4.0.0 to 4.15.0
    0x62dbdeb135a84bc0,  // 6.1.0 to 6.6.0
    0x74a45ecb461a23e9,  // 7.0.0 to 8.6.0
    0x7d4390010ebf75e6,  // 4.23.0
    0xa6c27b40dda0561f,  // 4.16.0 to 4.22.0
    0xbe5f29da19e13734,  // 4.24.0 to 4.25.1
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
// 55 releases, 162 calls compared.
constexpr std::string_view k_range_files[] = {
    "lib/puppet/parser/functions/range.rb",
};
constexpr std::uint64_t k_range_usual[] = {
    0x02ae578589fa75cf,  // 4.16.0 to 4.22.0
    0x1048c37b9d383073,  // 7.0.0 to 8.6.0
    0x262e638af106805a,  // 6.1.0 to 6.6.0
    0x2d9506af0b78a43b,  // 4.5.0 to 4.6.0
    0x5274897bdb5d9892,  // 9.0.0 to 9.7.0
    0x58ec604c388c64fb,  // 5.0.0 to 6.0.0
    0x601131e1b99fc54b,  // 4.23.0
    0x819ec198ff41b46d,  // 4.24.0 to 4.25.1
    0xa64c43fdcd928d14,  // 4.13.0 to 4.15.0
    0xb0fb2c10621bcdfa,  // 4.7.0 to 4.12.0
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
// 66 releases, 109 calls compared.
constexpr std::string_view k_reject_files[] = {
    "lib/puppet/parser/functions/reject.rb",
};
constexpr std::uint64_t k_reject_usual[] = {
    0x2b6ce7fd848422b9,  // 6.1.0 to 6.6.0
    0x2d7c77924e06b8c4,  // 4.23.0
    0x60b69d63d7c64c64,  // 5.0.0 to 6.0.0
    0x801fcbe42f7152df,  // 4.0.0 to 4.22.0
    0xc912085cb03a736b,  // 4.24.0 to 4.25.1
    0xee02fff642fabbfb,  // 7.0.0 to 8.6.0
    0xf2b4196811413a04,  // 9.0.0 to 9.7.0
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
// 66 releases, 112 calls compared.
constexpr std::string_view k_squeeze_files[] = {
    "lib/puppet/parser/functions/squeeze.rb",
};
constexpr std::uint64_t k_squeeze_usual[] = {
    0x04bee94bed73314b,  // 4.24.0 to 6.0.0
    0x22f042d243a92778,  // 9.0.0 to 9.7.0
    0x862c844dd0bcaac1,  // 4.23.0
    0x90d8e6647771708c,  // 4.16.0 to 4.22.0
    0xbe360b9faebcda9b,  // 7.0.0 to 8.6.0
    0xc30369644be208eb,  // 6.1.0 to 6.6.0
    0xd7b4a11ff436ec9a,  // 4.0.0 to 4.15.0
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
// 9 releases, 464 calls compared.
constexpr std::string_view k_stdlib_in_ensure_packages_files[] = {
    "lib/puppet/functions/stdlib/ensure_packages.rb",
    "lib/puppet/parser/functions/defined_with_params.rb",
    "lib/puppet/parser/functions/ensure_resource.rb",
};
constexpr std::uint64_t k_stdlib_in_ensure_packages_usual[] = {
    0x60d4c485d3a61429,  // 9.0.0 to 9.7.0
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
// 9 releases, 142 calls compared.
constexpr std::string_view k_stdlib_in_merge_files[] = {
    "lib/puppet/functions/stdlib/merge.rb",
};
constexpr std::uint64_t k_stdlib_in_merge_usual[] = {
    0x7a300a7f0841311d,  // 9.0.0 to 9.7.0
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
constexpr std::string_view k_stdlib_in_to_json_files[] = {
    "lib/puppet/functions/stdlib/to_json.rb",
};
constexpr std::uint64_t k_stdlib_in_to_json_usual[] = {
    0x85acfaaa38a3058b,  // 9.0.0 to 9.7.0
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
// 9 releases, 102 calls compared.
constexpr std::string_view k_stdlib_in_to_toml_files[] = {
    "lib/puppet/functions/stdlib/to_toml.rb",
    "lib/puppet_x/stdlib.rb",
    "lib/puppet_x/stdlib/toml_dumper.rb",
};
constexpr std::uint64_t k_stdlib_in_to_toml_usual[] = {
    0xabaa8e50aa79b831,  // 9.0.0 to 9.7.0
};
// 9 releases, 110 calls compared.
constexpr std::string_view k_stdlib_in_to_yaml_files[] = {
    "lib/puppet/functions/stdlib/to_yaml.rb",
};
constexpr std::uint64_t k_stdlib_in_to_yaml_usual[] = {
    0x60c7f363355087b3,  // 9.0.0 to 9.7.0
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
// 66 releases, 117 calls compared.
constexpr std::string_view k_swapcase_files[] = {
    "lib/puppet/parser/functions/swapcase.rb",
};
constexpr std::uint64_t k_swapcase_usual[] = {
    0x1224a16d0e0a715c,  // 7.0.0 to 8.6.0
    0x2e753feb5566970d,  // 4.24.0 to 6.0.0
    0x46e17b751f83ee75,  // 9.0.0 to 9.7.0
    0x52e805a7c25df321,  // 4.16.0 to 4.22.0
    0x5b7a226cff42f68b,  // 4.0.0 to 4.3.2
    0xaae5d0ef1e329a1d,  // 4.4.0 to 4.15.0
    0xb355429eb833d278,  // 6.1.0 to 6.6.0
    0xea6e8cc4acea219f,  // 4.23.0
};
// 63 releases, 106 calls compared.
constexpr std::string_view k_time_files[] = {
    "functions/time.pp",
    "lib/puppet/functions/time.rb",
    "lib/puppet/parser/functions/time.rb",
};
constexpr std::uint64_t k_time_usual[] = {
    0x2ba9c7c5a00d138f,  // 4.7.0 to 4.15.0
    0x66eddc09af142a92,  // 4.16.0 to 4.22.0
    0x6cb85bb43fcce9ab,  // 5.0.0 to 6.0.0
    0x9ecc6f029b36a4f8,  // 6.1.0 to 6.6.0
    0xb1fe16d3e0db98de,  // 4.24.0 to 4.25.1
    0xbbef9d1bf5648a4c,  // 4.0.0 to 4.6.0
    0xcacdbdc0377049b5,  // 4.23.0
    0xd18de3eacfea61ca,  // 9.0.0 to 9.4.1
    0xed08ec6c808c1eed,  // 7.0.0 to 8.6.0
};
// 56 releases, 138 calls compared.
constexpr std::string_view k_to_bytes_files[] = {
    "lib/puppet/parser/functions/to_bytes.rb",
};
constexpr std::uint64_t k_to_bytes_usual[] = {
    0x28aa65a3406627de,  // 9.0.0 to 9.7.0
    0x426339137ff7f7d2,  // 4.24.0 to 6.0.0
    0x4fd79f642df066d3,  // 7.0.0 to 8.6.0
    0xabe1d800922d4350,  // 4.4.0 to 4.15.0
    0xc4590b46a9da1f96,  // 4.23.0
    0xcc9648bc7cab0d93,  // 6.1.0 to 6.6.0
    0xce912251d8dfa707,  // 4.16.0 to 4.22.0
};
// 27 releases, 111 calls compared.
constexpr std::string_view k_to_json_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/to_json.rb",
    "lib/puppet/functions/to_json.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_to_json_usual[] = {
    0x075c0a60e05eee91,  // 7.0.0 to 8.1.0
    0x0fbaf9ad040df73d,  // 4.20.0 to 4.22.0
    0x2b11af9830a6a80c,  // 4.23.0
    0x633c9ac8d17894d7,  // 8.3.0 to 8.6.0
    0x6bba16363c3d667c,  // 8.2.0
    0xc3b2eda421fe9e74,  // 4.24.0 to 6.0.0
    0xf3c75c58e397ae5b,  // 6.1.0 to 6.6.0
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
// 2 releases, 101 calls compared.
constexpr std::string_view k_to_toml_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/to_toml.rb",
    "lib/puppet/functions/to_toml.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet_x/stdlib.rb",
    "lib/puppet_x/stdlib/toml_dumper.rb",
};
constexpr std::uint64_t k_to_toml_usual[] = {
    0xfcdd98b03fa0774e,  // 8.5.0 to 8.6.0
};
// 5 releases, 109 calls compared.
constexpr std::string_view k_to_yaml_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/stdlib/to_yaml.rb",
    "lib/puppet/functions/to_yaml.rb",
    "lib/puppet/parser/functions/deprecation.rb",
};
constexpr std::uint64_t k_to_yaml_usual[] = {
    0x450725a11e87d95d,  // 8.2.0
    0xb4d80e4ca94c61c8,  // 8.3.0 to 8.6.0
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
// 62 releases, 118 calls compared.
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
constexpr std::uint64_t k_union_usual[] = {
    0x957e3e7222db951e,  // 4.2.0 to 4.8.0
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
// 24 releases, 103 calls compared.
constexpr std::string_view k_validate_absolute_path_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_absolute_path.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_absolute_path.rb",
    "lib/puppet/parser/functions/validate_absolute_path.rb",
    "types/compat/absolute_path.pp",
};
constexpr std::uint64_t k_validate_absolute_path_usual[] = {
    0x23f8d72da3673227,  // 4.23.0
    0x3079b104df57eba8,  // 6.6.0
    0x32eae22325746de4,  // 7.0.0 to 8.2.0
    0x448d712717ccce6b,  // 4.24.0 to 6.0.0
    0x9f63449e8d05fb55,  // 6.1.0 to 6.5.0
    0xff7791c6bcaf332f,  // 8.3.0 to 8.6.0
};
// 24 releases, 110 calls compared.
constexpr std::string_view k_validate_array_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_array.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_array.rb",
    "types/compat/array.pp",
};
constexpr std::uint64_t k_validate_array_digests[] = {
    0x3f229503d8ed996f,  // 7.0.0 to 8.2.0
    0x8996d8c91e38e56b,  // 4.24.0 to 6.0.0
    0xb813f3428346b943,  // 6.1.0 to 6.6.0
    0xd6c00cc1381f3c8a,  // 4.23.0
    0xe3c6654ea93a0a76,  // 8.3.0 to 8.6.0
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
// 24 releases, 109 calls compared.
constexpr std::string_view k_validate_bool_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_bool.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_bool.rb",
    "lib/puppet/parser/functions/validate_bool.rb",
    "types/compat/bool.pp",
};
constexpr std::uint64_t k_validate_bool_digests[] = {
    0x0f9d115bf7745484,  // 4.24.0 to 6.0.0
    0x18dd928c31d78def,  // 7.0.0 to 8.2.0
    0x5ff6a21f8d03d4cb,  // 4.23.0
    0x70c411c0d9b2030d,  // 6.1.0 to 6.6.0
    0x7b002ec55859ce53,  // 8.3.0 to 8.6.0
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
// 24 releases, 110 calls compared.
constexpr std::string_view k_validate_hash_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_hash.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_hash.rb",
    "types/compat/hash.pp",
};
constexpr std::uint64_t k_validate_hash_digests[] = {
    0x0df9c80a60a513b4,  // 4.24.0 to 6.0.0
    0x76399cbb0974aff4,  // 4.23.0
    0x7a38f5b68b28062c,  // 6.1.0 to 6.6.0
    0xd4de13e95cdc75ca,  // 8.3.0 to 8.6.0
    0xde4446cb3eb8d2b3,  // 7.0.0 to 8.2.0
};
// 24 releases, 141 calls compared.
constexpr std::string_view k_validate_integer_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_integer.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_integer.rb",
    "types/compat/integer.pp",
};
constexpr std::uint64_t k_validate_integer_digests[] = {
    0x1a7024d2e404280a,  // 8.2.0
    0x75cf54593609eeae,  // 7.0.0 to 8.1.0
    0x86e2b11c9d48c5f5,  // 6.1.0 to 6.6.0
    0x9189de7874d3ce16,  // 4.24.0 to 6.0.0
    0xbfd4ea26d2029117,  // 8.3.0 to 8.6.0
    0xc6fe339f55b5c128,  // 4.23.0
};
// 24 releases, 128 calls compared.
constexpr std::string_view k_validate_ip_address_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_ip_address.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_ip_address.rb",
    "types/compat/ip_address.pp",
    "types/compat/ipv4.pp",
    "types/compat/ipv6.pp",
};
constexpr std::uint64_t k_validate_ip_address_digests[] = {
    0x67d08767231a0335,  // 7.0.0 to 8.2.0
    0x8226d58945714ac4,  // 4.24.0 to 6.0.0
    0xaa04b24f9ff8ec49,  // 8.3.0 to 8.6.0
    0xaeecee9c2d229c93,  // 4.23.0
    0xb070a3ef2c65f6fe,  // 6.1.0 to 6.6.0
};
// 24 releases, 123 calls compared.
constexpr std::string_view k_validate_ipv4_address_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_ipv4_address.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_ipv4_address.rb",
    "types/compat/ipv4.pp",
};
constexpr std::uint64_t k_validate_ipv4_address_digests[] = {
    0x89c3afd416335c5a,  // 8.3.0 to 8.6.0
    0x92ce86e3b74519c0,  // 7.0.0 to 8.2.0
    0xaaed2493e913e4b8,  // 6.1.0 to 6.6.0
    0xd18527e55fd868d9,  // 4.24.0 to 6.0.0
    0xefad1b990749009c,  // 4.23.0
};
// 24 releases, 124 calls compared.
constexpr std::string_view k_validate_ipv6_address_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_ipv6_address.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_ipv6_address.rb",
    "types/compat/ipv6.pp",
};
constexpr std::uint64_t k_validate_ipv6_address_digests[] = {
    0x091511cf6b717e99,  // 7.0.0
    0x787d345477f5bee6,  // 4.24.0 to 6.0.0
    0x7b40b60043afdf70,  // 7.0.1 to 8.2.0
    0x8b8e132b0d2886a8,  // 6.1.0 to 6.6.0
    0xb2b6f117ce36bcd9,  // 4.23.0
    0xf4601ce9e5f84347,  // 8.3.0 to 8.6.0
};
// 34 releases, 130 calls compared.
constexpr std::string_view k_validate_legacy_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_legacy.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/is_absolute_path.rb",
    "lib/puppet/parser/functions/is_bool.rb",
    "lib/puppet/parser/functions/is_domain_name.rb",
    "lib/puppet/parser/functions/is_email_address.rb",
    "lib/puppet/parser/functions/validate_absolute_path.rb",
    "lib/puppet/parser/functions/validate_array.rb",
    "lib/puppet/parser/functions/validate_augeas.rb",
    "lib/puppet/parser/functions/validate_bool.rb",
    "lib/puppet/parser/functions/validate_cmd.rb",
    "lib/puppet/parser/functions/validate_domain_name.rb",
    "lib/puppet/parser/functions/validate_email_address.rb",
    "lib/puppet/parser/functions/validate_hash.rb",
    "lib/puppet/parser/functions/validate_integer.rb",
    "lib/puppet/parser/functions/validate_ip_address.rb",
    "lib/puppet/parser/functions/validate_ipv4_address.rb",
    "lib/puppet/parser/functions/validate_ipv6_address.rb",
    "lib/puppet/parser/functions/validate_numeric.rb",
    "lib/puppet/parser/functions/validate_re.rb",
    "lib/puppet/parser/functions/validate_slength.rb",
    "lib/puppet/parser/functions/validate_string.rb",
    "lib/puppet/parser/functions/validate_x509_rsa_key_pair.rb",
    "types/compat/absolute_path.pp",
    "types/compat/array.pp",
    "types/compat/bool.pp",
    "types/compat/hash.pp",
    "types/compat/integer.pp",
    "types/compat/ip_address.pp",
    "types/compat/ipv4.pp",
    "types/compat/ipv6.pp",
    "types/compat/numeric.pp",
    "types/compat/re.pp",
    "types/compat/string.pp",
};
constexpr std::uint64_t k_validate_legacy_usual[] = {
    0x12f9051fbd63a7ba,  // 8.2.0
    0x1f66b45c645aa892,  // 4.15.0
    0x2b1d950903cf0618,  // 4.24.0 to 6.0.0
    0x34ee731e6c4ad810,  // 4.14.0
    0x421dc6ae4867fd5f,  // 4.16.0 to 4.18.0
    0x42e946ddba30472e,  // 6.6.0
    0x4762af381ad2743d,  // 4.19.0 to 4.22.0
    0x68bc0a4a62d6d697,  // 6.1.0 to 6.5.0
    0x7c7d193f1a455cf8,  // 7.0.1 to 8.1.0
    0xbdfa45a3968a82a6,  // 8.3.0 to 8.6.0
    0xcb7cb5818257df91,  // 4.23.0
    0xf956470b0964f8a2,  // 7.0.0
};
// 24 releases, 142 calls compared.
constexpr std::string_view k_validate_numeric_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_numeric.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_numeric.rb",
    "types/compat/numeric.pp",
};
constexpr std::uint64_t k_validate_numeric_digests[] = {
    0x31c502abecc63145,  // 4.23.0
    0x36f8e17a32c103df,  // 6.1.0 to 6.6.0
    0x8457a3330249579d,  // 4.24.0 to 6.0.0
    0xb958dcd73f631eae,  // 8.3.0 to 8.6.0
    0xcc2a8cf6b0478fd1,  // 8.2.0
    0xe2ca59e8e234a351,  // 7.0.0 to 8.1.0
};
// 24 releases, 116 calls compared.
constexpr std::string_view k_validate_re_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_re.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_re.rb",
    "types/compat/re.pp",
};
constexpr std::uint64_t k_validate_re_digests[] = {
    0x28f884d4ff37b5e7,  // 6.1.0 to 6.6.0
    0x5b53b7932027e05e,  // 7.0.0 to 8.2.0
    0x84ee6f42e4713d5f,  // 4.23.0
    0x93406fcbff8575a5,  // 8.3.0 to 8.6.0
    0x93cf613f14d523b1,  // 4.24.0 to 6.0.0
};
// 24 releases, 129 calls compared.
constexpr std::string_view k_validate_slength_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_slength.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_slength.rb",
};
constexpr std::uint64_t k_validate_slength_digests[] = {
    0x43a8845df7646d68,  // 6.1.0 to 6.6.0
    0x486efd8c90059a5f,  // 8.3.0 to 8.6.0
    0x6e846706c674a90a,  // 4.23.0
    0x956c4efe207d16e5,  // 7.0.0 to 8.2.0
    0xab1e7f0ff2e4917c,  // 4.24.0 to 6.0.0
};
// 24 releases, 106 calls compared.
constexpr std::string_view k_validate_string_files[] = {
    "lib/puppet/functions/deprecation.rb",
    "lib/puppet/functions/validate_string.rb",
    "lib/puppet/parser/functions/deprecation.rb",
    "lib/puppet/parser/functions/validate_string.rb",
    "types/compat/string.pp",
};
constexpr std::uint64_t k_validate_string_digests[] = {
    0x0cfddb704f461fd7,  // 6.1.0 to 6.6.0
    0x5ef5f581a074559b,  // 8.3.0 to 8.6.0
    0x7912b16d0a28ba96,  // 7.0.0 to 8.2.0
    0x825ad602ccc88bd6,  // 4.23.0
    0xc6b17d4155e233ee,  // 4.24.0 to 6.0.0
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
    {"any2array", k_any2array_files, k_any2array_digests, k_any2array_usual},
    {"any2bool", k_any2bool_files, k_any2bool_digests, {}},
    {"assert_private", k_assert_private_files, {}, k_assert_private_usual},
    {"basename", k_basename_files, k_basename_digests, {}},
    {"batch_escape", k_batch_escape_files, k_batch_escape_digests, {}},
    {"bool2num", k_bool2num_files, k_bool2num_digests, {}},
    {"bool2str", k_bool2str_files, k_bool2str_digests, {}},
    {"clamp", k_clamp_files, k_clamp_digests, {}},
    {"concat", k_concat_files, k_concat_digests, {}},
    {"convert_base", k_convert_base_files, k_convert_base_digests, {}},
    {"count", k_count_files, {}, k_count_usual},
    {"deep_merge", k_deep_merge_files, {}, k_deep_merge_usual},
    {"defined_with_params", k_defined_with_params_files, {}, k_defined_with_params_usual},
    {"delete", k_delete_files, {}, k_delete_usual},
    {"delete_at", k_delete_at_files, {}, k_delete_at_usual},
    {"delete_regex", k_delete_regex_files, {}, k_delete_regex_usual},
    {"delete_undef_values", k_delete_undef_values_files, {}, k_delete_undef_values_usual},
    {"delete_values", k_delete_values_files, {}, k_delete_values_usual},
    {"deprecation", k_deprecation_files, {}, k_deprecation_usual},
    {"difference", k_difference_files, k_difference_digests, {}},
    {"dig44", k_dig44_files, {}, k_dig44_usual},
    {"dirname", k_dirname_files, k_dirname_digests, k_dirname_usual},
    {"dos2unix", k_dos2unix_files, k_dos2unix_digests, {}},
    {"enclose_ipv6", k_enclose_ipv6_files, {}, k_enclose_ipv6_usual},
    {"ensure_packages", k_ensure_packages_files, {}, k_ensure_packages_usual},
    {"ensure_resource", k_ensure_resource_files, {}, k_ensure_resource_usual},
    {"ensure_resources", k_ensure_resources_files, {}, k_ensure_resources_usual},
    {"fact", k_fact_files, k_fact_digests, {}},
    {"fqdn_rand_string", k_fqdn_rand_string_files, k_fqdn_rand_string_digests, {}},
    {"fqdn_rotate", k_fqdn_rotate_files, {}, k_fqdn_rotate_usual},
    {"fqdn_uuid", k_fqdn_uuid_files, {}, k_fqdn_uuid_usual},
    {"getparam", k_getparam_files, {}, k_getparam_usual},
    {"grep", k_grep_files, {}, k_grep_usual},
    {"has_key", k_has_key_files, k_has_key_digests, {}},
    {"hash", k_hash_files, k_hash_digests, {}},
    {"intersection", k_intersection_files, {}, k_intersection_usual},
    {"is_a", k_is_a_files, k_is_a_digests, {}},
    {"is_absolute_path", k_is_absolute_path_files, {}, k_is_absolute_path_usual},
    {"is_array", k_is_array_files, k_is_array_digests, {}},
    {"is_bool", k_is_bool_files, k_is_bool_digests, {}},
    {"is_domain_name", k_is_domain_name_files, k_is_domain_name_digests, {}},
    {"is_email_address", k_is_email_address_files, k_is_email_address_digests, {}},
    {"is_float", k_is_float_files, k_is_float_digests, {}},
    {"is_hash", k_is_hash_files, k_is_hash_digests, {}},
    {"is_integer", k_is_integer_files, k_is_integer_digests, {}},
    {"is_ip_address", k_is_ip_address_files, k_is_ip_address_digests, {}},
    {"is_ipv4_address", k_is_ipv4_address_files, k_is_ipv4_address_digests, {}},
    {"is_ipv6_address", k_is_ipv6_address_files, k_is_ipv6_address_digests, {}},
    {"is_numeric", k_is_numeric_files, k_is_numeric_digests, {}},
    {"is_string", k_is_string_files, k_is_string_digests, {}},
    {"join_keys_to_values", k_join_keys_to_values_files, {}, k_join_keys_to_values_usual},
    {"member", k_member_files, k_member_digests, {}},
    {"merge", k_merge_files, {}, k_merge_usual},
    {"num2bool", k_num2bool_files, {}, k_num2bool_usual},
    {"os_version_gte", k_os_version_gte_files, k_os_version_gte_digests, {}},
    {"pick", k_pick_files, k_pick_digests, {}},
    {"pick_default", k_pick_default_files, k_pick_default_digests, {}},
    {"powershell_escape", k_powershell_escape_files, k_powershell_escape_digests, {}},
    {"prefix", k_prefix_files, k_prefix_digests, {}},
    {"pry", k_pry_files, k_pry_digests, {}},
    {"range", k_range_files, {}, k_range_usual},
    {"regexpescape", k_regexpescape_files, k_regexpescape_digests, {}},
    {"reject", k_reject_files, {}, k_reject_usual},
    {"reverse", k_reverse_files, k_reverse_digests, {}},
    {"seeded_rand", k_seeded_rand_files, k_seeded_rand_digests, {}},
    {"seeded_rand_string", k_seeded_rand_string_files, k_seeded_rand_string_digests, {}},
    {"shell_escape", k_shell_escape_files, k_shell_escape_digests, {}},
    {"shell_join", k_shell_join_files, k_shell_join_digests, {}},
    {"shell_split", k_shell_split_files, k_shell_split_digests, {}},
    {"shuffle", k_shuffle_files, k_shuffle_digests, {}},
    {"sprintf_hash", k_sprintf_hash_files, k_sprintf_hash_digests, {}},
    {"squeeze", k_squeeze_files, {}, k_squeeze_usual},
    {"stdlib::batch_escape", k_stdlib_in_batch_escape_files, k_stdlib_in_batch_escape_digests, {}},
    {"stdlib::crc32", k_stdlib_in_crc32_files, k_stdlib_in_crc32_digests, {}},
    {"stdlib::end_with", k_stdlib_in_end_with_files, k_stdlib_in_end_with_digests, {}},
    {"stdlib::ensure_packages", k_stdlib_in_ensure_packages_files, {}, k_stdlib_in_ensure_packages_usual},
    {"stdlib::extname", k_stdlib_in_extname_files, k_stdlib_in_extname_digests, {}},
    {"stdlib::fqdn_rand_string", k_stdlib_in_fqdn_rand_string_files, k_stdlib_in_fqdn_rand_string_digests, {}},
    {"stdlib::fqdn_rotate", k_stdlib_in_fqdn_rotate_files, k_stdlib_in_fqdn_rotate_digests, {}},
    {"stdlib::has_function", k_stdlib_in_has_function_files, k_stdlib_in_has_function_digests, {}},
    {"stdlib::has_interface_with", k_stdlib_in_has_interface_with_files, k_stdlib_in_has_interface_with_digests, {}},
    {"stdlib::merge", k_stdlib_in_merge_files, {}, k_stdlib_in_merge_usual},
    {"stdlib::nested_values", k_stdlib_in_nested_values_files, k_stdlib_in_nested_values_digests, {}},
    {"stdlib::os_version_gte", k_stdlib_in_os_version_gte_files, k_stdlib_in_os_version_gte_digests, {}},
    {"stdlib::powershell_escape", k_stdlib_in_powershell_escape_files, k_stdlib_in_powershell_escape_digests, {}},
    {"stdlib::seeded_rand", k_stdlib_in_seeded_rand_files, k_stdlib_in_seeded_rand_digests, {}},
    {"stdlib::seeded_rand_string", k_stdlib_in_seeded_rand_string_files, k_stdlib_in_seeded_rand_string_digests, {}},
    {"stdlib::sha256", k_stdlib_in_sha256_files, k_stdlib_in_sha256_digests, {}},
    {"stdlib::shell_escape", k_stdlib_in_shell_escape_files, k_stdlib_in_shell_escape_digests, {}},
    {"stdlib::start_with", k_stdlib_in_start_with_files, k_stdlib_in_start_with_digests, {}},
    {"stdlib::to_json", k_stdlib_in_to_json_files, {}, k_stdlib_in_to_json_usual},
    {"stdlib::to_json_pretty", k_stdlib_in_to_json_pretty_files, k_stdlib_in_to_json_pretty_digests, {}},
    {"stdlib::to_python", k_stdlib_in_to_python_files, k_stdlib_in_to_python_digests, {}},
    {"stdlib::to_ruby", k_stdlib_in_to_ruby_files, k_stdlib_in_to_ruby_digests, {}},
    {"stdlib::to_toml", k_stdlib_in_to_toml_files, {}, k_stdlib_in_to_toml_usual},
    {"stdlib::to_yaml", k_stdlib_in_to_yaml_files, {}, k_stdlib_in_to_yaml_usual},
    {"stdlib::type_of", k_stdlib_in_type_of_files, k_stdlib_in_type_of_digests, {}},
    {"stdlib::xml_encode", k_stdlib_in_xml_encode_files, k_stdlib_in_xml_encode_digests, {}},
    {"str2bool", k_str2bool_files, k_str2bool_digests, {}},
    {"str2saltedpbkdf2", k_str2saltedpbkdf2_files, k_str2saltedpbkdf2_digests, {}},
    {"suffix", k_suffix_files, k_suffix_digests, {}},
    {"swapcase", k_swapcase_files, {}, k_swapcase_usual},
    {"time", k_time_files, {}, k_time_usual},
    {"to_bytes", k_to_bytes_files, {}, k_to_bytes_usual},
    {"to_json", k_to_json_files, {}, k_to_json_usual},
    {"to_json_pretty", k_to_json_pretty_files, k_to_json_pretty_digests, {}},
    {"to_python", k_to_python_files, k_to_python_digests, {}},
    {"to_ruby", k_to_ruby_files, k_to_ruby_digests, {}},
    {"to_toml", k_to_toml_files, {}, k_to_toml_usual},
    {"to_yaml", k_to_yaml_files, {}, k_to_yaml_usual},
    {"type3x", k_type3x_files, k_type3x_digests, {}},
    {"type_of", k_type_of_files, k_type_of_digests, {}},
    {"union", k_union_files, k_union_digests, k_union_usual},
    {"unix2dos", k_unix2dos_files, k_unix2dos_digests, {}},
    {"uriescape", k_uriescape_files, k_uriescape_digests, {}},
    {"validate_absolute_path", k_validate_absolute_path_files, {}, k_validate_absolute_path_usual},
    {"validate_array", k_validate_array_files, k_validate_array_digests, {}},
    {"validate_augeas", k_validate_augeas_files, k_validate_augeas_digests, {}},
    {"validate_bool", k_validate_bool_files, k_validate_bool_digests, {}},
    {"validate_domain_name", k_validate_domain_name_files, k_validate_domain_name_digests, {}},
    {"validate_email_address", k_validate_email_address_files, k_validate_email_address_digests, {}},
    {"validate_hash", k_validate_hash_files, k_validate_hash_digests, {}},
    {"validate_integer", k_validate_integer_files, k_validate_integer_digests, {}},
    {"validate_ip_address", k_validate_ip_address_files, k_validate_ip_address_digests, {}},
    {"validate_ipv4_address", k_validate_ipv4_address_files, k_validate_ipv4_address_digests, {}},
    {"validate_ipv6_address", k_validate_ipv6_address_files, k_validate_ipv6_address_digests, {}},
    {"validate_legacy", k_validate_legacy_files, {}, k_validate_legacy_usual},
    {"validate_numeric", k_validate_numeric_files, k_validate_numeric_digests, {}},
    {"validate_re", k_validate_re_files, k_validate_re_digests, {}},
    {"validate_slength", k_validate_slength_files, k_validate_slength_digests, {}},
    {"validate_string", k_validate_string_files, k_validate_string_digests, {}},
    {"validate_x509_rsa_key_pair", k_validate_x509_rsa_key_pair_files, k_validate_x509_rsa_key_pair_digests, {}},
    {"values_at", k_values_at_files, k_values_at_digests, {}},
    {"zip", k_zip_files, k_zip_digests, {}},
};
// clang-format on

}  // namespace

std::span<const StdlibFunction> stdlib_functions() { return kFunctions; }

const StdlibFunction* find_stdlib_function(std::string_view name) {
    const auto* found = std::ranges::lower_bound(kFunctions, name, {}, &StdlibFunction::name);
    return found != std::end(kFunctions) && found->name == name ? found : nullptr;
}

}  // namespace bunraku::function

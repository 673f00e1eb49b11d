// SPDX-License-Identifier: Apache-2.0
#include "cli/build_info.h"

#include <boost/version.hpp>
#include <fmt/core.h>
#include <gnu/libc-version.h>
#include <oniguruma.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <utf8proc.h>
#include <yaml.h>
#include <zlib.h>

namespace bunraku::cli {

const BuildInfo& build_info() {
    static const BuildInfo info = [] {
        const BuildFacts facts = build_facts();
        BuildInfo out{.commit = facts.commit,
                      .date = facts.date,
                      .type = facts.type,
                      .compiler = facts.compiler,
                      .libraries = {}};
        const auto add = [&](std::string_view name, std::string_view version) {
            out.libraries.push_back(fmt::format("{} {}", name, version));
        };
        add("glibc", ::gnu_get_libc_version());
        add("OpenSSL", ::OpenSSL_version(OPENSSL_VERSION_STRING));
        add("SQLite", ::sqlite3_libversion());
        add("Oniguruma", ::onig_version());
        add("libyaml", ::yaml_get_version_string());
        add("utf8proc", ::utf8proc_version());
        add("zlib", ::zlibVersion());
        add("Boost", fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                                 BOOST_VERSION % 100));
        add("fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                               FMT_VERSION % 100));
        return out;
    }();
    return info;
}

}  // namespace bunraku::cli

// SPDX-License-Identifier: Apache-2.0
// Reads metadata.json, names, records, signatures and READMEs from untrusted bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "modules/forge/markdown.h"
#include "modules/forge/record.h"
#include "modules/module/names.h"
#include "modules/module/puppetfile.h"
#include "modules/module/signature.h"
#include "modules/module/tarball.h"
#include "modules/module/tuf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    namespace forge = bunraku::forge;
    namespace module = bunraku::module;
    if (auto m = module::parse_metadata(text)) {
        // An accepted name is a valid path. It can be written and parsed again.
        if (!module::parse_release_name(m->slug())) __builtin_trap();
        if (!module::parse_metadata(m->json)) __builtin_trap();
    }
    std::string_view rest = text;
    (void)forge::read_record(&rest);
    (void)module::parse_file_name(text);
    (void)module::parse_puppetfile(text);
    (void)module::PublicKey::parse(text);
    (void)module::Minisign::parse(text);
    (void)module::TufRoot::parse(text);
    // The page contains only the markup that Bunraku generates.
    const std::string page = forge::markdown_html(text);
    for (std::size_t at = 0; (at = page.find('<', at)) != std::string::npos; ++at) {
        if (!forge::is_markdown_tag(std::string_view(page).substr(at))) __builtin_trap();
    }
    return 0;
}

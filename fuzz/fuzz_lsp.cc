// SPDX-License-Identifier: Apache-2.0
// Messages of the Language Server Protocol: the input is read as a framed stream, and then with
// one message in each line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/lsp/framing.h"
#include "services/lsp/server.h"
#include "unit/language/environment/memory_files.h"

using namespace bunraku;

namespace {

std::shared_ptr<const environment::Files> fuzz_files() {
    return std::make_shared<probe::MemoryFiles>(probe::MemoryFiles::Texts{
        {"/r/hiera.yaml", "version: 5\n"},
        {"/r/data/common.yaml", "a::p: 1\n"},
        {"/r/modules/a/manifests/init.pp", "class a(Integer $p = 1) { file { '/x': } }\n"},
    });
}

/// Checks that every answer is valid JSON-RPC.
void check(const std::vector<std::string>& messages) {
    for (const std::string& message : messages)
        if (!lsp::parse_message(message)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    lsp::FrameReader frames;
    frames.append(text);
    while (auto next = frames.next())
        if (!*next) break;

    lsp::Server server(fuzz_files());
    check(server.handle(
        R"({"id":0,"method":"initialize","params":{"rootUri":"file:///r","capabilities":{}}})"));
    check(server.handle(
        R"({"method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///r/a.pp",)"
        R"("version":1,"text":"class b inherits a { $q = $p }\ninclude b\n"}}})"));
    int count = 0;
    while (!text.empty() && count++ < 200) {
        const std::size_t end = text.find('\n');
        check(server.handle(text.substr(0, end)));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
        if (count % 4 == 0) check(server.idle());
    }
    check(server.idle());
    return 0;
}

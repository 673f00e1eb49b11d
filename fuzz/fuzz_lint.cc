// SPDX-License-Identifier: Apache-2.0
// Runs every style check and fix. The tokens of a text must give the same text again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/assert.h"
#include "language/lint/check.h"
#include "language/lint/lexer.h"
#include "language/lint/lint.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 4096) return 0;
    const std::string text(reinterpret_cast<const char*>(data), size);
    lint::TokenStream stream;
    if (!lint::tokenise(text, stream)) BUNRAKU_ALWAYS_ASSERT(stream.text() == text);
    lint::LintOptions options;
    options.fix = true;
    for (const lint::Check* check : lint::all_checks())
        options.checks[std::string(check->name)] = true;
    lint::lint(text, "/foo/manifests/bar.pp", options);
    lint::lint(text, "/foo/data/common.yaml", options);
    return 0;
}

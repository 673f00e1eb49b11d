// SPDX-License-Identifier: Apache-2.0
// Checks files other than manifests. The first byte selects the kind of file.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "compile/checks/file_checks.h"
#include "core/base/assert.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr const char* kPaths[] = {"/x/metadata.json", "/x/Puppetfile", "/x/environment.conf",
                                      "/x/hiera.yaml",    "/x/a.epp",      "/x/a.pp"};
    if (size == 0 || size > 4096) return 0;
    const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
    checks::DataFolders folders;
    for (const lint::Problem& problem :
         checks::check_file(text, kPaths[data[0] % std::size(kPaths)], {}, nullptr, folders))
        BUNRAKU_ALWAYS_ASSERT(problem.line >= 1 && problem.column >= 1);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "unit/language/format/odd_layouts.h"

#include <cstdlib>
#include <gtest/gtest.h>

#include "core/base/number.h"
#include "unit/language/format/oracle.h"

namespace bunraku::format {
namespace {

/// Returns the number of manifests to test, which BUNRAKU_FORMAT_MANIFESTS may raise.
int manifest_count() {
    const char* given = std::getenv("BUNRAKU_FORMAT_MANIFESTS");
    return given ? base::parse_integer<int>(given).value_or(1) : 2000;
}

TEST(OddLayoutsTest, KeepTreeAndComments) {
    const int count = manifest_count();
    int valid = 0, bad = 0;
    for (int seed = 0; seed < count && bad < 5; ++seed) {
        const OddManifest odd = odd_manifest(static_cast<std::uint64_t>(seed));
        std::string problem;
        const Verdict verdict = judge(odd.text, odd.comments, 1 + seed % 7, &problem);
        if (verdict == Verdict::Bad) ++bad;
        if (verdict == Verdict::Good) ++valid;
        EXPECT_NE(verdict, Verdict::Bad) << "seed " << seed << ": " << problem << "\n--- from\n"
                                         << odd.text;
    }
    RecordProperty("valid", valid);
    EXPECT_GT(valid, count / 2);
}

}  // namespace
}  // namespace bunraku::format

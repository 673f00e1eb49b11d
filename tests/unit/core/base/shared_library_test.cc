// SPDX-License-Identifier: Apache-2.0
#include "core/base/shared_library.h"

#include <gtest/gtest.h>

namespace bunraku::base {

TEST(SharedLibrary, ReportsMissingLibraryOrFunction) {
    SharedLibrary none("libbunraku-no-such.so.9", "PostgreSQL support");
    int (*function)() = nullptr;
    none.find("anything", function);
    EXPECT_EQ(function, nullptr);
    ASSERT_FALSE(none.loaded());
    EXPECT_EQ(none.loaded().error().message,
              "PostgreSQL support needs the library libbunraku-no-such.so.9: "
              "cannot open shared object file: No such file or directory");

    SharedLibrary math("libm.so.6", "Arithmetic");
    double (*cosine)(double) = nullptr;
    math.find("cos", cosine);
    ASSERT_TRUE(math.loaded());
    EXPECT_EQ(cosine(0), 1);
    math.find("no_such_function", function);
    EXPECT_EQ(math.loaded().error().message,
              "Arithmetic needs the library libm.so.6: it does not contain the function "
              "no_such_function");
    // After a failure, all further lookups fail.
    math.find("sin", cosine);
    EXPECT_EQ(cosine, nullptr);
}

}  // namespace bunraku::base

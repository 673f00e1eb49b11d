// SPDX-License-Identifier: Apache-2.0
#include "core/sys/wording.h"

#include <gtest/gtest.h>

#include "core/sys/file_system.h"

namespace bunraku::sys {
namespace {

TEST(Wording, SystemErrorsWithoutRubysCalls) {
    const std::pair<const char*, const char*> cases[] = {
        {"No such file or directory @ rb_sysopen - /x y", "/x y: No such file or directory"},
        {"Could not load: Permission denied @ dir_initialize - /d",
         "Could not load: /d: Permission denied"},
        {"Is a directory @ io_fread - /a - b", "/a - b: Is a directory"},
        {"Not served (Permission denied @ rb_sysopen - /ca/key). Run it as its owner: see x",
         "Not served (/ca/key: Permission denied). Run it as its owner: see x"},
        {"Is a directory @ io_fread - /a (b)", "/a (b): Is a directory"},
        {"Not read: Permission denied @ rb_sysopen - /a; the last one is used",
         "Not read: Permission denied @ rb_sysopen - /a; the last one is used"},
        {"mail me @ home - now", "mail me @ home - now"},
        {"a @ rb_sysopen", "a @ rb_sysopen"},
        {"plain", "plain"},
        {"", ""},
    };
    for (const auto& [from, to] : cases) EXPECT_EQ(plain_text(from), to);
    const auto gone = make_real_file_system()->read("/nowhere/at/all");
    ASSERT_FALSE(gone.has_value());
    EXPECT_EQ(plain_text(gone.error().message), "/nowhere/at/all: No such file or directory");
}

// Uses Puppet's format even for short times, because programs that read logs search for it.
TEST(Wording, Seconds) {
    const std::pair<double, const char*> cases[] = {
        {0, "0.00"}, {0.00042, "0.00"}, {0.0051, "0.01"}, {1.234, "1.23"}, {120, "120.00"}};
    for (const auto& [seconds, text] : cases) EXPECT_EQ(seconds_text(seconds), text);
}

}  // namespace
}  // namespace bunraku::sys

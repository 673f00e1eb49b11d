// SPDX-License-Identifier: Apache-2.0
#include "services/agent/server_default.h"

#include <gtest/gtest.h>
#include <memory>

#include "testing/fake.h"

namespace bunraku::agent {
namespace {

// Returns the error, and before it the warnings.
std::string check(const std::string& level, bool root, bool authority, const char* set = nullptr) {
    auto settings = config::Settings::defaults(std::make_shared<sys::MemoryFileSystem>(), root);
    settings.set("compatibility", level);
    if (set) settings.set(set, "a.example.org");
    base::MemorySink log;
    const auto result = check_server_setting(settings, log, authority);
    std::string out;
    for (const auto& d : log.records) out += d.message + "|";
    return out + (result ? "" : result.error().message);
}

// As `puppet agent` and `puppet ssl` of OpenVox 9.0.0-rc1.
TEST(ServerDefault, OpenVox9NeedsAValue) {
    constexpr const char* kRoot =
        "OpenVox does not default to `server=puppet` as of version 9.0. Please update your "
        "configuration appropriately by providing a specific server of your choice.\n\n"
        "You can update the server setting in puppet.conf by running a command similar to:\n"
        "  puppet config --section main set server YOUR_SERVER_NAME\n";
    constexpr std::string_view kOther =
        "OpenVox no longer defaults to `server=puppet` when running as a non-privileged user. (Did "
        "you mean to run as root?)|";
    for (const char* level : {"puppet8", "openvox8"})
        for (bool root : {false, true}) EXPECT_EQ(check(level, root, false), "") << level;
    for (bool authority : {false, true}) {
        EXPECT_EQ(check("openvox9", true, authority), kRoot);
        EXPECT_EQ(check("openvox9", true, authority, "server"), "");
        EXPECT_EQ(check("openvox9", false, authority, "server_list"), "");
    }
    EXPECT_EQ(check("openvox9", true, true, "ca_server"), kRoot);
    EXPECT_EQ(check("openvox9", false, true, "ca_server"), kOther);
    EXPECT_EQ(check("openvox9", false, false),
              std::string(kOther) + "Required setting `server` is not specified.");
    EXPECT_EQ(check("openvox9", false, true),
              std::string(kOther) + "Neither `server` nor `ca_server` is specified.");
}

}  // namespace
}  // namespace bunraku::agent

// SPDX-License-Identifier: Apache-2.0
#include "core/sys/ruby_folders.h"

#include <cstdlib>
#include <gtest/gtest.h>

#include "testing/fake.h"

namespace bunraku::sys {
namespace {

TEST(RubyFolders, HoldPluginsButNotPuppet) {
    FakeSystem fake;
    fake.files.put("/lib/puppet/type/a.rb", "");
    fake.files.put("/none/other.rb", "");
    fake.files.put("/usr/lib/ruby/vendor_ruby/puppet/version.rb", "");
    fake.files.put("/usr/lib/ruby/vendor_ruby/3.1.0/facter/x.rb", "");
    fake.files.put("/var/lib/gems/3.1.0/gems/with-1.0/lib/puppet/reports/r.rb", "");
    fake.files.put("/var/lib/gems/3.1.0/gems/puppet-8.0/lib/puppet/version.rb", "");
    fake.files.put("/usr/share/rubygems-integration/all/gems/facter-4/lib/facter/version.rb", "");
    ::setenv("RUBYLIB", "/none:/lib:relative", 1);
    const auto found = ruby_plugin_folders(fake.files);
    ::unsetenv("RUBYLIB");
    EXPECT_EQ(found, (std::vector<std::string>{"/lib", "/usr/lib/ruby/vendor_ruby/3.1.0",
                                               "/var/lib/gems/3.1.0/gems/with-1.0/lib"}));
}

}  // namespace
}  // namespace bunraku::sys

// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/native_functions.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "core/base/number.h"
#include "core/codec/digest.h"
#include "language/function/table.h"

namespace bunraku::compiler {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOwn = "lib/puppet/functions/acme_pick.rb";
constexpr std::string_view kCalled = "lib/puppet/parser/functions/acme_empty.rb";
constexpr std::string_view kMissing = "lib/puppet/functions/acme_gone.rb";
constexpr std::string_view kFiles[] = {kMissing, kOwn, kCalled};

std::uint64_t digest_of(std::initializer_list<std::pair<std::string_view, std::string_view>> list) {
    std::string all;
    for (const auto& [name, content] : list) {
        all.append(name).append(1, '\0').append(content).append(1, '\0');
    }
    return *base::parse_integer<std::uint64_t>(
        codec::hex_digest(codec::DigestKind::Sha256, all).substr(0, 16), 16);
}

struct Modules {
    fs::path root = fs::temp_directory_path() / fmt_name();
    ~Modules() { fs::remove_all(root); }
    static std::string fmt_name() {
        return std::string("native_functions_") +
               testing::UnitTest::GetInstance()->current_test_info()->name();
    }
    std::string write(std::string_view module, std::string_view relative,
                      std::string_view content) const {
        const auto path = root / module / relative;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << content;
        return path.string();
    }
    std::shared_ptr<const environment::Environment> open() const {
        environment::Spec spec;
        spec.modulepath = {root.string()};
        spec.modulepath_given = true;
        spec.code = "";
        base::NullSink log;
        return *environment::Environment::open(spec, log);
    }
};

TEST(NativeFunctions, ReplaceOnlyKnownContent) {
    const Modules modules;
    const auto own = modules.write("stdlib", kOwn, "picks");
    modules.write("stdlib", kCalled, "is empty");
    const std::uint64_t digests[] = {digest_of({{kOwn, "picks"}, {kCalled, "is empty"}})};
    const function::StdlibFunction known{"acme_pick", kFiles, digests};
    EXPECT_EQ(native_stands_for(*modules.open(), &known, own), NativeSupport::Always);
    EXPECT_EQ(native_stands_for(*modules.open(), nullptr, own), NativeSupport::Never);
    // The native function is not used if one byte of the function's file differs, one byte of a
    // file that it calls differs, or an additional file exists.
    modules.write("stdlib", kOwn, "picks ");
    EXPECT_EQ(native_stands_for(*modules.open(), &known, own), NativeSupport::Never);
    modules.write("stdlib", kOwn, "picks");
    EXPECT_EQ(native_stands_for(*modules.open(), &known, own), NativeSupport::Always);
    modules.write("stdlib", kCalled, "is full");
    EXPECT_EQ(native_stands_for(*modules.open(), &known, own), NativeSupport::Never);
    modules.write("stdlib", kCalled, "is empty");
    modules.write("stdlib", kMissing, "new");
    EXPECT_EQ(native_stands_for(*modules.open(), &known, own), NativeSupport::Never);
}

TEST(NativeFunctions, ReplaceOnlyUsualArgumentsIfOthersAreUnknown) {
    const Modules modules;
    const auto own = modules.write("stdlib", kOwn, "picks");
    const std::uint64_t other[] = {1}, digests[] = {digest_of({{kOwn, "picks"}})};
    const function::StdlibFunction known{"acme_pick", kFiles, other, digests};
    EXPECT_EQ(native_stands_for(*modules.open(), &known, own), NativeSupport::UsualArguments);
    modules.write("stdlib", kOwn, "picks ");
    EXPECT_EQ(native_stands_for(*modules.open(), &known, own), NativeSupport::Never);
}

TEST(NativeFunctions, EarlierModuleHasPriority) {
    const Modules modules;
    const auto own = modules.write("stdlib", kOwn, "picks");
    modules.write("stdlib", kCalled, "is empty");
    const std::uint64_t digests[] = {digest_of({{kOwn, "picks"}, {kCalled, "is empty"}})};
    const function::StdlibFunction known{"acme_pick", kFiles, digests};
    modules.write("aaa", kCalled, "is another");
    EXPECT_EQ(native_stands_for(*modules.open(), &known, own), NativeSupport::Never);
    // The native function also replaces a copy in another module.
    fs::remove_all(modules.root / "aaa");
    const auto copy = modules.write("vendored", kOwn, "picks");
    EXPECT_EQ(native_stands_for(*modules.open(), &known, copy), NativeSupport::Always);
}

TEST(NativeFunctions, AreComparedOncePerEnvironmentState) {
    const Modules modules;
    const auto own = modules.write("stdlib", kOwn, "picks");
    const std::uint64_t digests[] = {digest_of({{kOwn, "picks"}})};
    const function::StdlibFunction known{"acme_pick", kFiles, digests};
    const auto environment = modules.open();
    EXPECT_EQ(native_stands_for(*environment, &known, own), NativeSupport::Always);
    // The environment records the file that it compared. A change leads to a new environment; the
    // old one keeps its result.
    modules.write("stdlib", kOwn, "picks otherwise");
    EXPECT_EQ(native_stands_for(*environment, &known, own), NativeSupport::Always);
    EXPECT_FALSE(environment->unchanged());
    EXPECT_EQ(native_stands_for(*modules.open(), &known, own), NativeSupport::Never);
}

TEST(NativeFunctions, TableIsSorted) {
    const auto all = function::stdlib_functions();
    ASSERT_GT(all.size(), 50u);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i > 0) {
            EXPECT_LT(all[i - 1].name, all[i].name);
        }
        EXPECT_FALSE(all[i].files.empty());
        EXPECT_FALSE(all[i].digests.empty() && all[i].usual.empty());
        EXPECT_TRUE(std::ranges::is_sorted(all[i].files)) << all[i].name;
        EXPECT_TRUE(std::ranges::is_sorted(all[i].digests)) << all[i].name;
        EXPECT_TRUE(std::ranges::is_sorted(all[i].usual)) << all[i].name;
        // If the table lists usual arguments, the builtin function must define a check for them.
        const auto* builtin = function::builtin_functions().find(all[i].name);
        ASSERT_NE(builtin, nullptr) << all[i].name;
        EXPECT_TRUE(all[i].usual.empty() || builtin->usual) << all[i].name;
        EXPECT_EQ(function::find_stdlib_function(all[i].name), &all[i]);
    }
    EXPECT_EQ(function::find_stdlib_function("nothing"), nullptr);
}

}  // namespace
}  // namespace bunraku::compiler

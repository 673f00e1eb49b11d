// SPDX-License-Identifier: Apache-2.0
// Compares the table of types with the introspection of Puppet 8.11 (Puppet::Type).
#include "resources/restype/spec.h"

#include <gtest/gtest.h>
#include <set>

#include "core/value/value.h"

namespace bunraku::restype {
namespace {

using Strings = std::vector<std::string>;
using value::Value;

TEST(Spec, TypesAreSortedAndDocumented) {
    std::string_view last;
    for (const TypeSpec* t : all_types()) {
        EXPECT_LT(last, t->name);
        last = t->name;
        EXPECT_FALSE(t->doc.empty()) << t->name;
        EXPECT_EQ(find_type(t->name), t);
        std::set<std::string_view> seen;
        for (const Attribute& a : t->attributes) {
            EXPECT_FALSE(a.doc.empty()) << t->name << " " << a.name;
            EXPECT_TRUE(seen.insert(a.name).second) << t->name << " " << a.name;
            EXPECT_FALSE(is_metaparameter(a.name) && a.name != "alias") << t->name << " " << a.name;
        }
    }
    EXPECT_EQ(find_type("nosuch"), nullptr);
    EXPECT_EQ(find_type("file_line"), nullptr);
    EXPECT_NE(find_module_type("file_line"), nullptr);
    EXPECT_EQ(metaparameters().size(), 11u);
}

TEST(Spec, Namevars) {
    struct Row {
        const char* type;
        const char* namevar;
        bool composite;
        bool isomorphic;
    };
    for (const Row& r :
         std::initializer_list<Row>{{"file", "path", false, true},
                                    {"exec", "command", false, false},
                                    {"package", "name", true, true},
                                    {"resources", "name", false, true},
                                    {"tidy", "path", false, false},
                                    {"zpool", "pool", false, true},
                                    {"nagios_host", "host_name", false, true},
                                    {"nagios_service", "_naginator_name", false, true},
                                    {"router", "url", false, true}}) {
        const TypeSpec* t = find_type(r.type);
        ASSERT_NE(t, nullptr) << r.type;
        EXPECT_EQ(t->namevar(), r.namevar);
        EXPECT_EQ(t->composite_namevar, r.composite) << r.type;
        EXPECT_EQ(t->isomorphic, r.isomorphic) << r.type;
    }
}

TEST(Spec, UniquenessKey) {
    auto key = [](const char* type, const char* title,
                  std::vector<std::pair<std::string, Value>> params = {}) {
        return uniqueness_key(*find_type(type), title, params);
    };
    EXPECT_EQ(key("file", "/tmp/x//"), Strings{"/tmp/x"});
    EXPECT_EQ(key("file", "/"), Strings{"/"});
    EXPECT_EQ(key("file", "a", {{"path", Value::string("/b")}}), Strings{"/b"});
    EXPECT_EQ(key("package", "mysql"), (Strings{"", "mysql", ""}));
    EXPECT_EQ(
        key("package", "x", {{"name", Value::string("mysql")}, {"provider", Value::string("gem")}}),
        (Strings{"", "mysql", "gem"}));
    EXPECT_EQ(key("notify", "hello"), Strings{"hello"});
    EXPECT_EQ(key("sshkey", "h@ssh-rsa"), (Strings{"h", "ssh-rsa"}));
    EXPECT_EQ(key("sshkey", "a@b"), (Strings{"a@b", ""}));
}

TEST(Spec, Values) {
    const TypeSpec& file = *find_type("file");
    const TypeSpec& package = *find_type("package");
    EXPECT_EQ(match_value(*package.find("ensure"), "installed"), "present");
    EXPECT_EQ(match_value(*package.find("ensure"), "1.2"), "1.2");
    EXPECT_EQ(match_value(*file.find("ensure"), "false"), "absent");
    EXPECT_EQ(match_value(*file.find("links"), "nope"), std::nullopt);
    EXPECT_EQ(match_value(*file.find("max_files"), "-1"), "-1");
    EXPECT_EQ(match_value(*file.find("max_files"), "12"), "12");
    EXPECT_EQ(match_value(*file.find("max_files"), "-2"), std::nullopt);
    EXPECT_EQ(invalid_value_text(*file.find("links"), Value::string("no\"pe")),
              "Invalid value \"no\\\"pe\". Valid values are follow, manage.");
    EXPECT_EQ(invalid_value_text(*file.find("max_files"), Value::integer(-2)),
              "Invalid value -2. Valid values match /^[0-9]+$/, /^-1$/.");
    EXPECT_EQ(match_value(*find_type("mount")->find("atboot"), "yes"), "true");
}

}  // namespace
}  // namespace bunraku::restype

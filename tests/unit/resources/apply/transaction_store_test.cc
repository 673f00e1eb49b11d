// SPDX-License-Identifier: Apache-2.0
// Tests transactionstore.yaml in the format of Puppet 8.11's agent.
#include "resources/apply/transaction_store.h"

#include <gtest/gtest.h>

#include "testing/fake.h"

namespace bunraku::apply {
namespace {

const std::string kPath = "/state/transactionstore.yaml";

struct TransactionStoreTest : testing::Test {
    sys::FakeSystem fake;
    base::MemorySink log;
    Context context{.system = fake.system, .log = log};

    TransactionStoreTest() { (void)fake.files.make_directories("/state"); }
    TransactionStore loaded() {
        TransactionStore out(context, kPath);
        out.load();
        return out;
    }
    std::string logged() const {
        std::string out;
        for (const auto& d : log.records) out += d.message + "\n";
        return out;
    }
};

TEST_F(TransactionStoreTest, WritesFormatOfPuppet) {
    auto store = loaded();
    store.store_values("File[/a: b]", "ensure", {Value::string("file")},
                       [](const Value&) { return true; });
    store.store_values("File[/a: b]", "mode", {Value::string("0644")}, {});
    store.store_values("User[x]", "uid", {Value::integer(7)}, {});
    store.store_values("User[x]", "groups", {Value::string("a"), Value::string(":b")}, {});
    store.store_values("User[x]", "nothing", {}, {});
    store.save();
    EXPECT_EQ(*fake.files.read(kPath), R"(---
resources:
  'File[/a: b]':
    parameters:
      ensure:
        system_value:
        - :file
      mode:
        system_value:
        - '0644'
  User[x]:
    parameters:
      uid:
        system_value:
        - 7
      groups:
        system_value:
        - a
        - ":b"
      nothing:
        system_value: []
)");
    const auto again = loaded();
    const auto ensure = again.system_value("File[/a: b]", "ensure");
    ASSERT_TRUE(ensure);
    EXPECT_EQ((*ensure)[0].as_string(), "file");
    EXPECT_EQ((*again.system_value("User[x]", "uid"))[0].as_integer(), 7);
    EXPECT_EQ((*again.system_value("User[x]", "groups"))[1].as_string(), ":b");
    EXPECT_FALSE(again.system_value("User[x]", "home"));
    EXPECT_FALSE(again.system_value("User[y]", "uid"));
}

TEST_F(TransactionStoreTest, PreservesEntriesOfSkippedResources) {
    // A file written by Puppet 8.11.
    ASSERT_TRUE(fake.files.replace(kPath,
                                   "---\nresources:\n  Schedule[puppet]:\n    parameters: {}\n"
                                   "  File[/a]:\n    parameters:\n      ensure:\n"
                                   "        system_value:\n        - :present\n"
                                   "      mode:\n        system_value:\n        - '0600'\n"));
    auto store = loaded();
    store.retain("File[/a]");
    store.retain("File[/b]");
    store.save();
    EXPECT_EQ(
        *fake.files.read(kPath),
        "---\nresources:\n  File[/a]:\n    parameters:\n      ensure:\n        system_value:\n"
        "        - :present\n      mode:\n        system_value:\n        - '0600'\n");
}

// The same content in other YAML spellings. Some are read line by line, others by the YAML parser.
TEST_F(TransactionStoreTest, ReadsAnyYamlSpelling) {
    const std::string plain =
        "---\nresources:\n  File[/a]:\n    parameters:\n      ensure:\n        system_value:\n"
        "        - :file\n      mode:\n        system_value:\n        - '0644'\n"
        "  'File[/b: c]':\n    parameters:\n      x:\n        system_value: 7\n";
    const auto said = [&](const std::string& text) {
        EXPECT_TRUE(fake.files.replace(kPath, text));
        auto store = loaded();
        store.retain("File[/a]", "mode");
        store.retain("File[/b: c]");
        store.retain("File[/c]", "nothing");
        std::string out;
        for (const auto& [ref, name] : std::initializer_list<std::pair<const char*, const char*>>{
                 {"File[/a]", "ensure"}, {"File[/a]", "mode"}, {"File[/b: c]", "x"}})
            if (const auto v = store.system_value(ref, name))
                for (const Value& one : *v) out += apply::plain(one) + " ";
        store.save();
        return out + *fake.files.read(kPath);
    };
    const std::string wanted =
        "file 0644 7 ---\nresources:\n  File[/a]:\n    parameters:\n      mode:\n"
        "        system_value:\n        - '0644'\n  'File[/b: c]':\n    parameters:\n      x:\n"
        "        system_value: 7\n";
    EXPECT_EQ(said(plain), wanted);
    const auto with = [&](std::string_view from, std::string_view to) {
        std::string out = plain;
        out.replace(out.find(from), from.size(), to);
        return out;
    };
    EXPECT_EQ(said("# seen\n" + plain), wanted);
    EXPECT_EQ(said(with("      mode:", "      \"mode\":")), wanted);
    EXPECT_EQ(said(with("- '0644'", "- \"06\\\n          44\"")), wanted);
    EXPECT_EQ(said(with("        system_value: 7", "        other: 1\n        system_value: 7")),
              wanted);
    EXPECT_EQ(said(with("        - '0644'", "          - '0644'")), wanted);
    EXPECT_EQ(said(with("  'File[/b: c]'", "  ? 'File[/b: c]'\n  ")), wanted);
    EXPECT_EQ(said(plain.substr(0, plain.size() - 1)), wanted);
}

TEST_F(TransactionStoreTest, MovesInvalidFileAside) {
    struct Case {
        const char* text;
        const char* says;
        bool aside;
    };
    for (const Case& c : std::initializer_list<Case>{
             {"[broken", "Transaction store file /state/transactionstore.yaml is corrupt (", true},
             {"just text", "is valid YAML but not returning a hash", false},
             {"---\nresources: 7\n", "", false},
             {"---\nresources:\n  a: [1]\n  b:\n    parameters: x\n", "", false},
         }) {
        log.records.clear();
        ASSERT_TRUE(fake.files.replace(kPath, c.text));
        (void)loaded();
        EXPECT_NE(logged().find(c.says), std::string::npos) << logged();
        EXPECT_EQ(log.records.empty(), c.says[0] == '\0') << logged();
        EXPECT_EQ(fake.files.exists(kPath + ".bad"), c.aside) << c.text;
        (void)fake.files.remove(kPath + ".bad");
    }
}

}  // namespace
}  // namespace bunraku::apply

// SPDX-License-Identifier: Apache-2.0
// What a return leaves on a node: from events alone, and from a store in a folder.
#include "services/rollout/leftovers.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/sys/clock.h"
#include "resources/catalog/wire_time.h"
#include "store/db/command.h"
#include "store/engine/service.h"

namespace bunraku::rollout {
namespace {

namespace fs = std::filesystem;

/// A plan whose node "a" has these groups.
Plan plan_of(std::vector<PlannedGroup> groups) {
    Plan out;
    out.environment = "production";
    out.groups = std::move(groups);
    out.nodes = {{.name = "a", .verdict = "changed", .groups = {}, .identity = {}}};
    for (std::uint32_t i = 0; i < out.groups.size(); ++i) out.nodes[0].groups.push_back(i);
    out.waves = {"canary"};
    return out;
}

Plan adds(std::initializer_list<std::string> references) {
    std::vector<PlannedGroup> groups;
    for (const auto& one : references) groups.push_back({.kind = "added", .reference = one});
    return plan_of(std::move(groups));
}

/// Returns "RESOURCE: WHAT", and "; created" if a report says so, for each leftover.
std::vector<std::string> lines_of(const Plan& plan, const std::vector<JudgedRun>& runs) {
    std::vector<std::string> out;
    for (const Leftover& one : leftovers(plan, plan.nodes[0], runs))
        out.push_back(
            fmt::format("{}: {}{}", one.resource, one.what, one.created ? "; created" : ""));
    return out;
}

using Lines = std::vector<std::string>;

TEST(Leftovers, ListWhatOnlyTheNewVersionDeclares) {
    const Plan plan = adds({"File[/a]", "File[/b]", "File[/c]", "File[/d]", "Exec[e]", "Exec[f]",
                            "Exec[g]", "Service[s]", "Class[App]", "Notify[n]"});
    EXPECT_EQ(lines_of(plan, {}).size(), 8u);
    EXPECT_EQ(lines_of(plan, {})[3], "File[/a]: only the new version declares it");
    JudgedRun run;
    run.events = {{.resource = "File[/a]", .property = "ensure", .created = true},
                  {.resource = "File[/b]", .property = "mode"},
                  {.resource = "File[/b]", .property = "content"},
                  {.resource = "File[/c]", .property = "content", .noop = true},
                  {.resource = "File[/d]", .property = "content", .failed = true},
                  {.resource = "Exec[e]", .property = "returns"},
                  {.resource = "Exec[f]", .property = "returns", .failed = true},
                  {.resource = "Service[s]", .property = ""}};
    EXPECT_EQ(lines_of(plan, {run}),
              (Lines{"Exec[e]: the command has run", "Exec[f]: the command has failed",
                     "File[/a]: the new version created it; created",
                     "File[/b]: it existed before, and the new version changed content, mode",
                     "File[/d]: the new version failed to change it",
                     "Service[s]: it existed before, and the new version restarted it"}));
}

TEST(Leftovers, EndWithTheRemoval) {
    const Plan plan = adds({"File[/a]"});
    JudgedRun created{.start = 1}, removed{.start = 2};
    created.events = {{.resource = "File[/a]", .property = "ensure", .created = true}};
    removed.events = {{.resource = "File[/a]", .property = "ensure", .removed = true}};
    EXPECT_EQ(lines_of(plan, {removed, created}), Lines{});
    removed.start = 0;
    EXPECT_EQ(lines_of(plan, {removed, created}),
              Lines{"File[/a]: the new version created it; created"});
}

TEST(Leftovers, ListChangesThatTheVersionBeforeDoesNotRevert) {
    const auto changed = [](std::string reference, std::string parameter, std::string before) {
        return PlannedGroup{.kind = "changed",
                            .reference = std::move(reference),
                            .parameter = std::move(parameter),
                            .before = std::move(before)};
    };
    const Plan plan = plan_of({changed("File[/a]", "mode", ""),
                               changed("File[/b]", "mode", "\"0644\""),
                               changed("Package[c]", "ensure", "\"present\""),
                               changed("Package[d]", "ensure", "\"1.2\""),
                               changed("File[/e]", "mode", ""),
                               {.kind = "removed", .reference = "User[f]"},
                               {.kind = "plugins", .reference = "modules/m"}});
    JudgedRun run;
    run.events = {{.resource = "File[/a]", .property = "mode"},
                  {.resource = "File[/b]", .property = "mode"},
                  {.resource = "Package[c]", .property = "ensure"},
                  {.resource = "Package[d]", .property = "ensure"},
                  {.resource = "File[/e]", .property = "owner"},
                  {.resource = "User[f]", .property = "ensure", .removed = true}};
    EXPECT_EQ(lines_of(plan, {run}),
              (Lines{"File[/a]: the previous version does not declare mode, which was changed",
                     "Package[c]: the package keeps the version that was installed",
                     "User[f]: it was removed or purged",
                     "modules/m: custom facts, types and providers have run"}));
}

TEST(Leftovers, HaveCommands) {
    const auto command = [](std::string_view type, std::string_view title,
                            DeclaredParameters parameters = {}) {
        return removal_command(type, title, parameters);
    };
    EXPECT_EQ(command("File", "/etc/it's"), R"(rm '/etc/it'\''s')");
    EXPECT_EQ(command("File", "keys", {{"path", "/etc/keys"}}), "rm '/etc/keys'");
    EXPECT_EQ(command("File", "/srv", {{"ensure", "directory"}}), "rmdir '/srv'");
    EXPECT_EQ(command("File", "keys"), "");
    EXPECT_EQ(command("Service", "ntp", {{"name", "ntpsec"}}), "systemctl disable --now 'ntpsec'");
    EXPECT_EQ(command("User", "-r"), "userdel -- '-r'");
    EXPECT_EQ(command("Package", "p", {{"provider", "gem"}}),
              "puppet resource package 'p' ensure=absent provider='gem'");
    EXPECT_EQ(command("Cron", "c", {{"user", "bob"}}),
              "puppet resource cron 'c' ensure=absent user='bob'");
    EXPECT_EQ(command("Exec", "x"), "");
}

class LeftoversOfStore : public testing::Test {
protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "bunraku-leftovers-XXXXXX";
        folder_ = ::mkdtemp(name.data());
        store::ServiceOptions options;
        options.database = folder_ + "/store.sqlite3";
        options.queue_folder = folder_ + "/queue";
        options.durable = false;
        options.lifetimes.report_ttl_ms = 0;
        auto started = store::Service::start(std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        service_ = std::move(*started);
    }
    void TearDown() override {
        service_->stop();
        service_.reset();
        fs::remove_all(folder_);
    }
    std::string time() {
        last_ = std::max(last_ + 1, sys::machine().now_ms());
        return bunraku::catalog::format_wire_time(last_);
    }
    void submit(store::CommandKind kind, int version, const std::string& body) {
        store::CommandHeader header;
        header.kind = kind;
        header.version = version;
        header.certname = "a";
        header.received = last_;
        const auto ticket = service_->submit(header, body);
        ASSERT_TRUE(ticket) << ticket.error().message;
        ASSERT_TRUE(service_->drain(std::chrono::seconds(60)));
        ASSERT_EQ(service_->health().dead_letters, 0u);
    }
    /// Type, title and parameters as JSON.
    using Resources = std::vector<std::array<std::string, 3>>;
    void catalog(const Resources& resources) {
        std::string list;
        for (const auto& [type, title, parameters] : resources)
            list += fmt::format(
                R"({}{{"type":"{}","title":"{}","aliases":[],"exported":false,"file":null,)"
                R"("line":null,"tags":[],"parameters":{{{}}}}})",
                list.empty() ? "" : ",", type, title, parameters);
        const auto now = time();
        submit(store::CommandKind::ReplaceCatalog, 9,
               fmt::format(R"({{"certname":"a","version":"{0}","environment":"production",)"
                           R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
                           R"("producer_timestamp":"{0}","producer":null,"edges":[],)"
                           R"("resources":[{1}],"job_id":null}})",
                           now, list));
    }
    /// Type, title, property, old and new value.
    using Events = std::vector<std::array<std::string, 5>>;
    void report(const Events& events) {
        const auto now = time();
        std::string list;
        for (const auto& [type, title, property, before, after] : events)
            list += fmt::format(
                R"({0}{{"resource_type":"{1}","resource_title":"{2}","file":null,"line":null,)"
                R"("timestamp":"{3}","skipped":false,"containment_path":[],)"
                R"("corrective_change":false,"events":[{{"status":"success","timestamp":"{3}",)"
                R"("property":"{4}","name":null,"new_value":"{6}","old_value":"{5}",)"
                R"("message":"x","corrective_change":false}}]}})",
                list.empty() ? "" : ",", type, title, now, property, before, after);
        submit(store::CommandKind::StoreReport, 8,
               fmt::format(
                   R"({{"certname":"a","puppet_version":"8","report_format":12,)"
                   R"("configuration_version":"c","start_time":"{0}","end_time":"{0}",)"
                   R"("producer_timestamp":"{0}","producer":null,"environment":"production",)"
                   R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,"job_id":null,)"
                   R"("cached_catalog_status":"not_used","status":"changed","noop":false,)"
                   R"("noop_pending":false,"corrective_change":false,"logs":[],"metrics":[],)"
                   R"("resources":[{1}],"type":"agent"}})",
                   now, list));
    }
    Lines left(const Plan& plan) {
        auto db = service_->reader();
        EXPECT_TRUE(db);
        const std::vector<store::RolloutMember> members{{.certname = "a", .judged = true},
                                                        {.certname = "gone", .judged = true}};
        const auto found = read_leftovers(**db, row_, plan, members, {});
        EXPECT_TRUE(found) << found.error().message;
        Lines out;
        for (const Leftover& one : *found)
            out.push_back(
                fmt::format("{} {}: {}; {}", one.node, one.resource, one.what, one.command));
        return out;
    }
    Lines removals(Plan plan, std::vector<std::string> types) {
        plan.rules.rollback = std::move(types);
        auto db = service_->reader();
        EXPECT_TRUE(db);
        const auto found = read_removals(**db, row_, plan, "a");
        EXPECT_TRUE(found) << found.error().message;
        Lines out;
        for (const auto& one : *found)
            out.push_back(fmt::format("{}[{}] {}", one.type, one.title, one.name));
        return out;
    }

    std::string folder_;
    std::shared_ptr<store::Service> service_;
    std::int64_t last_ = 0;
    store::RolloutRow row_{.environment = "production", .from = "v1", .to = "v2"};
};

TEST_F(LeftoversOfStore, AreListedAndRemoved) {
    const Resources before{{"File", "/x", R"("content":"x")"}};
    Resources bad = before;
    bad.push_back({"File", "made", R"("path":"/srv/made","content":"text")"});
    bad.push_back({"File", "/srv/dir", R"("ensure":"directory")"});
    bad.push_back({"File", "/srv/existed", R"("content":"text")"});
    bad.push_back({"Package", "tool", R"("ensure":"present")"});
    const Plan plan = adds({"File[made]", "File[/srv/dir]", "File[/srv/existed]", "Package[tool]"});
    catalog(before);
    catalog(bad);
    report({{"File", "made", "ensure", "absent", "file"},
            {"File", "/srv/dir", "ensure", "absent", "directory"},
            {"File", "/srv/existed", "content", "{sha256}00", "{sha256}01"},
            {"Package", "tool", "ensure", "absent", "present"}});
    const Lines expected{
        "a File[/srv/dir]: the new version created it; rmdir '/srv/dir'",
        "a File[/srv/existed]: it existed before, and the new version changed content; ",
        "a File[made]: the new version created it; rm '/srv/made'",
        "a Package[tool]: the new version created it; puppet resource package 'tool' "
        "ensure=absent"};
    EXPECT_EQ(left(plan), expected);
    // The node still has the bad catalog.
    EXPECT_EQ(removals(plan, {"File"}), Lines{});
    catalog(before);
    EXPECT_EQ(left(plan), expected);
    EXPECT_EQ(removals(plan, {"File"}), Lines{"File[made] /srv/made"});
    EXPECT_EQ(removals(plan, {"File", "Package"}),
              (Lines{"File[made] /srv/made", "Package[tool] tool"}));
    EXPECT_EQ(removals(plan, {}), Lines{});
    // The rollout did not add it, so it left the catalog for another reason.
    EXPECT_EQ(removals(adds({"Package[tool]"}), {"File"}), Lines{});
    report({{"File", "made", "ensure", "file", "absent"}});
    EXPECT_EQ(removals(plan, {"File"}), Lines{});
    EXPECT_EQ(left(plan), (Lines{expected[0], expected[1], expected[3]}));
}

TEST_F(LeftoversOfStore, StayIfTheyAreDeclaredAgain) {
    const Resources bad{{"File", "/a", R"("content":"a")"}};
    const Plan plan = adds({"File[/a]"});
    catalog({});
    catalog(bad);
    report({{"File", "/a", "ensure", "absent", "file"}});
    catalog({});
    EXPECT_EQ(removals(plan, {"File"}), Lines{"File[/a] /a"});
    catalog(bad);
    EXPECT_EQ(removals(plan, {"File"}), Lines{});
}

}  // namespace
}  // namespace bunraku::rollout

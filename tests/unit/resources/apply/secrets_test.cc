// SPDX-License-Identifier: Apache-2.0
// Puts secrets into every attribute of every type, in many shapes, most of which are wrong for the
// attribute. No log line, report, state file or process argument may contain them.
#include "resources/apply/secrets.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>

#include "core/base/text.h"
#include "machine.h"

namespace bunraku::apply {
namespace {

using value::Value;

constexpr std::string_view kSecret = "S3CR3Tzq81";

TEST(Secrets, HidesSecretsInTexts) {
    Secrets s;
    const Value list[] = {Value::string("hunter22"), Value::string("A=pass word9")};
    s.add(Value::array(list), Secrets::Parts::All);
    EXPECT_EQ(s.hide("xhunter22y"), "x[redacted]y");
    EXPECT_EQ(s.hide("A=pass word9"), "[redacted]");
    EXPECT_EQ(s.hide("said word9, pass word9"), "said [redacted], [redacted]");
    EXPECT_EQ(s.hide("HUNTER"), "HUNTER");
    // Short secrets are hidden only as separate words, because otherwise the gaps in a text would
    // reveal them.
    Secrets little;
    little.add(Value::string("a"), Secrets::Parts::All);
    little.add(Value::integer(12), Secrets::Parts::All);
    EXPECT_EQ(little.hide("a change of 12 to 123: 'a'"),
              "[redacted] change of [redacted] to 123: '[redacted]'");
    little.add(Value::string("Sensitive [value redacted]"), Secrets::Parts::All);
    EXPECT_EQ(little.hide("[redacted] value"), "[redacted] value");
    Secrets whole;
    whole.add(Value::string("short"), Secrets::Parts::Whole);
    EXPECT_TRUE(whole.empty());
    whole.add(Value::string("line of text\nanother line"), Secrets::Parts::Whole);
    EXPECT_EQ(whole.hide("text, another line"), "text, [redacted]");
    EXPECT_EQ(whole.hide("\"line of text\\nanother line\""), "\"[redacted]\"");
    // The lines of a file, for any number of lines.
    std::string file;
    for (int i = 0; i < 20'000; ++i) file += "setting number " + std::to_string(i) + "\n";
    Secrets large;
    large.add(Value::string(file), Secrets::Parts::Whole);
    EXPECT_TRUE(large.empty());
    large.add(Value::string(file), Secrets::Parts::All);
    EXPECT_EQ(large.hide("line 'setting number 7' is wrong"), "line '[redacted]' is wrong");
    // Escaped as in Ruby's inspect.
    Secrets quoted;
    quoted.add(Value::string("say \"hi\"\t!"), Secrets::Parts::Whole);
    EXPECT_EQ(quoted.hide(R"(no "say \"hi\"\t!")"), "no \"[redacted]\"");
}

/// Returns the other attributes that the resource needs to get as far as possible.
std::string companions(const std::string& type, const std::string& attribute) {
    struct Companion {
        std::string_view type, attribute, json;
    };
    static constexpr Companion kAll[] = {
        {"archive", "source", R"("/nonexistent/source")"},
        {"archive", "path", R"("/tmp/archive.tgz")"},
        {"concat_file", "tag", R"("t")"},
        {"concat_fragment", "target", R"("/tmp/t")"},
        {"concat_fragment", "content", R"("text")"},
        {"cron", "command", R"("/bin/true")"},
        {"cron", "user", R"("root")"},
        {"exec", "command", R"("/bin/sh -c x")"},
        {"exec", "logoutput", "true"},
        {"exec", "path", R"("/bin")"},
        {"file", "content", R"("text")"},
        {"file", "path", R"("/tmp/t")"},
        {"file_line", "line", R"("text")"},
        {"file_line", "path", R"("/tmp/t")"},
        {"host", "ip", R"("10.0.0.1")"},
        {"host", "target", R"("/tmp/lines")"},
        {"ini_setting", "path", R"("/tmp/t")"},
        {"ini_setting", "section", R"("s")"},
        {"ini_setting", "setting", R"("a")"},
        {"ini_setting", "value", R"("b")"},
        {"ini_subsetting", "path", R"("/tmp/t")"},
        {"ini_subsetting", "setting", R"("a")"},
        {"ini_subsetting", "subsetting", R"("c")"},
        {"mailalias", "recipient", R"("somebody")"},
        {"mailalias", "target", R"("/tmp/lines")"},
        {"mount", "device", R"("/dev/x")"},
        {"mount", "fstype", R"("ext4")"},
        {"mount", "ensure", R"("defined")"},
        {"mount", "target", R"("/tmp/lines")"},
        {"package", "ensure", R"("installed")"},
        {"service", "ensure", R"("running")"},
        {"ssh_authorized_key", "key", R"("AAAAB3")"},
        {"ssh_authorized_key", "target", R"("/tmp/lines")"},
        {"ssh_authorized_key", "type", R"("ssh-rsa")"},
        {"ssh_authorized_key", "user", R"("root")"},
        {"sshkey", "key", R"("AAAAB3")"},
        {"sshkey", "target", R"("/tmp/lines")"},
        {"sshkey", "type", R"("ssh-rsa")"},
        {"tidy", "path", R"("/tmp/t")"},
        {"user", "ensure", R"("present")"},
        {"vcsrepo", "ensure", R"("present")"},
        {"vcsrepo", "path", R"("/tmp/repository")"},
        {"vcsrepo", "provider", R"("git")"},
        {"vcsrepo", "source", R"("/nonexistent/source")"},
        {"yumrepo", "baseurl", R"("http://host.example/")"},
    };
    std::string out;
    for (const Companion& c : kAll)
        if (c.type == type && c.attribute != attribute)
            out += fmt::format(",\"{}\":{}", c.attribute, c.json);
    return out;
}

/// Shapes of a value that contains the secret; each is valid for some attributes.
const std::string_view kShapes[] = {
    R"("S3CR3Tzq81")",
    R"("/nonexistent/S3CR3Tzq81")",
    R"("/bin/sh -c 'S3CR3Tzq81'")",
    R"("VARIABLE=S3CR3Tzq81")",
    R"("somebody:S3CR3Tzq81")",
    R"("https://somebody:S3CR3Tzq81@host.example/x")",
    R"("one line\nS3CR3Tzq81\n")",
    R"(["S3CR3Tzq81","other"])",
    R"(["/bin/echo","S3CR3Tzq81"])",
    R"({"key":"S3CR3Tzq81"})",
};

/// Reports whether the attribute's value must not be a process argument. The values of some other
/// attributes may be arguments: the comment of a user, the name of a package.
bool is_no_argument(std::string_view type, std::string_view attribute) {
    if (attribute.find("password") != std::string_view::npos)
        return attribute == "password" || attribute == "proxy_password";
    if (type == "archive") return attribute == "cookie" || attribute == "source";
    if (type == "file") return attribute != "validate_cmd" && attribute != "validate_replacement";
    constexpr std::string_view kOfFiles[] = {
        "concat_file", "concat_fragment", "cron",   "file_line", "host",    "ini_setting",
        "mailalias",   "notify",          "sshkey", "tidy",      "yumrepo", "ssh_authorized_key"};
    return std::ranges::find(kOfFiles, type) != std::end(kOfFiles);
}

/// Applies one resource with a secret in one attribute. Returns the outputs that contain the
/// secret.
std::vector<std::string> outputs_with_secret(const std::string& type, std::string_view attribute,
                                             std::string_view shape, const std::string& more) {
    sys::FakeSystem fake;
    for (const char* path : {"/tmp/lines", "/etc/hosts", "/etc/fstab", "/etc/aliases", "/bin/sh",
                             "/bin/true", "/bin/echo", "/state/.keep"})
        fake.files.put(path, "", 0755);
    fake.files.put("/tmp/t", "old\n");
    fake.processes.programs = {"crontab", "dpkg-query", "apt-get",  "git",      "useradd",
                               "usermod", "userdel",    "groupadd", "chpasswd", "chage",
                               "mount",   "systemctl",  "svn",      "curl",     "tar"};
    // A program that fails and prints its input.
    const auto repeat = [](const sys::Command& c) {
        std::string said = c.input;
        for (const std::string& word : c.argv) said += word + "\n";
        for (const auto& [name, v] : c.environment)
            if (v) said += name + "=" + *v + "\n";
        return sys::Outcome{.status = 1, .output = said};
    };
    fake.processes.answer("", repeat);
    const std::string title = type == "vcsrepo" || type == "file" ? "/tmp/title" : "title";
    const std::string json =
        R"({"name":"n","version":1,"environment":"production","catalog_format":2,"classes":[],)"
        R"("tags":[],"resources":[{"type":"Stage","title":"main","tags":["stage"],)"
        R"("kind":"compilable_type"},{"type":"Class","title":"main","tags":["class"],)"
        R"("kind":"unknown"},{"type":")" +
        base::capitalized_segments(type) + R"(","title":")" + title +
        R"(","tags":[],"kind":"compilable_type","sensitive_parameters":[")" +
        std::string(attribute) + R"("],"parameters":{")" + std::string(attribute) +
        "\":" + std::string(shape) + companions(type, std::string(attribute)) + more +
        R"(}}],"edges":[{"source":"Stage[main]","target":"Class[main]"}]})";
    auto catalog = catalog::read_agent_json(json);
    EXPECT_TRUE(catalog.has_value()) << (catalog ? "" : catalog.error().message) << json;
    if (!catalog) return {};
    catalog->edges.push_back({1, 2});
    base::MemorySink log;
    ReportSink sink(log, fake.clock);
    Context context{.system = fake.system, .log = sink};
    context.options.show_diff = true;
    context.options.evaltrace = true;
    context.options.statefile = "/state/state.yaml";
    context.options.transactionstorefile = "/state/transactionstore.yaml";
    std::vector<std::string> out;
    const auto look = [&](std::string_view where, std::string_view text) {
        const std::size_t at = text.find(kSecret);
        if (at == std::string::npos) return;
        const std::size_t from = at < 120 ? 0 : at - 120;
        out.push_back(fmt::format("{}: {}", where, text.substr(from, 200)));
    };
    try {
        auto ral = RalCatalog::from(context, *catalog);
        ral->finalize();
        const auto result = run_catalog(context, sink, *ral, {});
        look("report", report_yaml(*result.report, context));
        look("report as JSON", report_json(*result.report, context));
    } catch (const base::PuppetError& e) {
        look("error", error_text(e));
    }
    for (const auto& d : log.records) look("log", d.message);
    for (const char* path : {"/state/state.yaml", "/state/transactionstore.yaml"})
        look(path, fake.files.read(path).value_or(""));
    for (const sys::Command& c : fake.processes.calls) {
        if (!is_no_argument(type, attribute)) continue;
        for (const std::string& word : c.argv) look("argument of " + c.argv[0], word);
    }
    return out;
}

// Namevars are excluded, because every message about the resource contains them.
TEST(Secrets, NoAttributeOfAnyTypeShowsSecrets) {
    std::set<std::string> found;
    for (const restype::TypeSpec* spec : restype::all_types()) {
        const std::string type(spec->name);
        // The Nagios types share all their code, so one is enough.
        if (type.starts_with("nagios_") && type != "nagios_host") continue;
        for (const restype::Attribute& a : spec->attributes) {
            if (a.namevar || a.name == "name") continue;
            for (const std::string_view shape : kShapes) {
                const std::string more = shape == kShapes[0] ? R"(,"audit":"all")" : "";
                for (const auto& line : outputs_with_secret(type, a.name, shape, more))
                    found.insert(fmt::format("{}.{} => {}: {}", type, a.name, shape, line));
            }
        }
    }
    for (const auto& line : found) ADD_FAILURE() << line;
}

}  // namespace
}  // namespace bunraku::apply

// SPDX-License-Identifier: Apache-2.0
// Tests types of modules that are built in. Messages and files were recorded from Puppet 8.11 with
// stdlib 8.5.0, inifile 5.4.0 and concat 7.3.1, unless the newest release differs.
#include <cstdlib>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/guarded_file_system.h"
#include "machine.h"
#include "resources/apply/module_releases.h"
#include "resources/apply/ruby_types.h"

namespace bunraku::apply {
namespace {

std::string in_main(std::string_view rest) { return "/Stage[main]/Main/" + std::string(rest); }

struct FileCase {
    std::string type, parameters, before, after;
    Lines said;
};

/// Runs each case with a new file, twice: the second run must change nothing.
void check_cases(std::span<const FileCase> cases, bool show_diff = false) {
    for (const FileCase& c : cases) {
        SCOPED_TRACE(c.parameters);
        Machine m;
        m.options.show_diff = show_diff;
        m.fake.files.put("/f", c.before);
        const std::string catalog = resource(c.type, "t", R"("path":"/f",)" + c.parameters);
        Lines said;
        for (const std::string& line : c.said) said.push_back(in_main(c.type + "[t]" + line));
        EXPECT_EQ(m.run(catalog), said);
        EXPECT_EQ(m.fake.files.read("/f").value_or(""), c.after);
        if (said.empty() || !said[0].contains(": Could not evaluate")) {
            EXPECT_EQ(m.run(catalog), Lines{});
        }
    }
}

TEST(FileLine, AddsAndRemovesLines) {
    const Lines created{"/ensure: created"}, removed{"/ensure: removed"};
    const FileCase cases[] = {
        {"File_line", R"("line":"x")", "a\nb", "a\nb\nx\n", created},
        {"File_line", R"("line":"x")", "x\r\n", "x\r\n", {}},
        {"File_line", R"("line":"x=2","match":"^x")", "a\nx=1\nb\n", "a\nx=2\nb\n", created},
        {"File_line", R"("line":"x=2","match":"^x","replace":false)", "x=1\n", "x=1\n", {}},
        {"File_line", R"("line":"x=2","match":"^x","after":"a")", "a\nb\n", "a\nx=2\nb\n", created},
        {"File_line", R"("line":"x","after":"^a","multiple":true)", "a\nb\na\n", "a\nx\nb\na\nx\n",
         created},
        {"File_line", R"("line":"x","match":"^y","append_on_no_match":false)", "a\n", "a\n", {}},
        {"File_line", R"("line":"x","ensure":"absent")", "x\na\nx\nxx\n", "a\nxx\n", removed},
        {"File_line", R"("ensure":"absent","match":"^x","match_for_absence":true)", "x=1\na\n",
         "a\n", removed},
        {"File_line",
         R"("line":"x","match":"[")",
         "a\n",
         "a\n",
         {": Could not evaluate: premature end of char-class: /[/"}},
    };
    check_cases(cases);
}

TEST(FileLine, Refusals) {
    Machine m;
    m.fake.files.put("/f", "x1\nx2\n");
    EXPECT_EQ(m.run(resource("File_line", "t", R"("path":"/f","line":"x","match":"^x")")),
              (Lines{"More than one line in file '/f' matches pattern '^x'",
                     in_main("File_line[t]/ensure: change from 'absent' to 'present' failed: More "
                             "than one line in file '/f' matches pattern '^x'")}));
    EXPECT_EQ(
        m.run(resource("File_line", "t", R"("path":"f","line":"x")")),
        Lines{"Parameter path failed on File_line[t]: File paths must be fully qualified, not "
              "'f'"});
    EXPECT_EQ(m.run(resource("File_line", "t", R"("path":"/f")")),
              Lines{"Validation of File_line[t] failed: line is a required attribute"});
    EXPECT_EQ(m.run(resource("File_line", "t", R"("path":"/none","line":"x")")),
              Lines{in_main("File_line[t]: Could not evaluate: No such file or directory @ "
                            "rb_sysopen - /none")});
    EXPECT_EQ(m.run(resource("File_line", "t", R"("path":"/none","line":"x")"), true)[0],
              in_main("File_line[t]/ensure: created (noop)"));
}

TEST(IniSetting, AddsAndRemovesSettings) {
    const Lines created{"/ensure: created"}, removed{"/ensure: removed"};
    const std::string file = "x = 0\n\n[a]\n  one=1\n;two = 2\n\n[b]\nx = 3\n";
    const auto with = [&](std::string_view old, std::string_view by) {
        std::string out = file;
        return out.replace(out.find(old), old.size(), by);
    };
    const FileCase cases[] = {
        {"Ini_setting",
         R"("section":"a","setting":"one","value":"9")",
         file,
         with("  one=1", "  one=9"),
         {"/value: value changed 1 to 9"}},
        {"Ini_setting", R"("section":"a","setting":"two","value":true)", file,
         with(";two = 2\n", ";two = 2\n  two = true\n"), created},
        {"Ini_setting", R"("section":"a","setting":"new","value":" v ","indent_width":1)", file,
         with(";two = 2\n", ";two = 2\n new = v\n"), created},
        {"Ini_setting", R"("section":"c","setting":"k","value":"v","key_val_separator":": ")", file,
         file + "\n[c]\nk: v\n", created},
        {"Ini_setting", R"("section":"","setting":"y","value":"1")", file,
         with("x = 0\n", "x = 0\ny = 1\n"), created},
        {"Ini_setting", R"("section":"b","setting":"x","ensure":"absent")", file,
         with("x = 3\n", ""), removed},
        {"Ini_setting",
         R"("section":"n","setting":"x","value":"1","force_new_section_creation":false)",
         file,
         file,
         {}},
        {"Ini_setting",
         R"("section":"b","setting":"x","value":"s","show_diff":"md5")",
         file,
         with("x = 3", "x = s"),
         {"/value: value changed {md5}eccbc87e4b5ce2fe28308fd9f2a7baf3 to "
          "{md5}03c7c0ace395d80182db07ae2c30f034"}},
        {"Ini_setting",
         R"("section":"b","setting":"x","value":"s","refreshonly":true)",
         file,
         file,
         {}},
        {"Ini_setting", R"("section":"n")", file, file + "\n[n]\n", created},
    };
    check_cases(cases, true);
}

TEST(IniSubsetting, AddsAndRemovesWords) {
    const std::string of = R"("setting":"o","subsetting":)";
    const FileCase cases[] = {
        {"Ini_subsetting",
         of + R"("-Xmx","value":"9m")",
         "o = \"-a -Xmx1m\"\n",
         "o = \"-a -Xmx9m\"\n",
         {"/value: value changed [redacted sensitive information] to "
          "[redacted sensitive information]"}},
        {"Ini_subsetting",
         of + R"("b","insert_type":"after","insert_value":"a")",
         "o = a c\n",
         "o = a b c\n",
         {"/ensure: created"}},
        {"Ini_subsetting",
         of + R"("b","subsetting_separator":",","insert_type":"index","insert_value":1)",
         "o = a,c\n",
         "o = a,b,c\n",
         {"/ensure: created"}},
        {"Ini_subsetting",
         of + R"("b","ensure":"absent","use_exact_match":true)",
         "o = bb b\n",
         "o = bb\n",
         {"/ensure: removed"}},
        {"Ini_subsetting",
         of + R"("b","ensure":"absent")",
         "o = b\np = 1\n",
         "p = 1\n",
         {"/ensure: removed"}},
        {"Ini_subsetting",
         of + R"("k","value":"v","subsetting_key_val_separator":"=","quote_char":"'")",
         "",
         "o = 'k=v'\n",
         {"/ensure: created"}},
    };
    check_cases(cases);
}

TEST(Concat, CombinesFragments) {
    Machine m;
    m.fake.files.put("/src", "from a source");
    const std::string fragments =
        resource("Concat_fragment", "b", R"("target":"/f","content":"two\n","order":"2")") +
        resource("Concat_fragment", "a", R"("target":"F","content":"ten\n")") +
        resource("Concat_fragment", "c", R"("tag":"t","source":"/src","order":"1")") +
        resource("Concat_fragment", "z", R"("target":"/f","content":"two too\n","order":2)");
    const std::string file = resource(
        "Concat_file", "F", R"("path":"/f","tag":"t","ensure_newline":true,"mode":"0600")");
    EXPECT_EQ(m.run(fragments + file),
              Lines{in_main("File[/f]/ensure: defined content as '") +
                    "{sha256}07a635a4d555a78c46fe7208fdbac69b97b5909461bf0678007a114f76ebd8d5'"});
    EXPECT_EQ(m.fake.files.read("/f").value_or(""), "from a source\ntwo\ntwo too\nten\n");
    EXPECT_EQ(m.fake.files.stat("/f")->mode, 0600U);
    EXPECT_EQ(m.run(fragments + file), Lines{});
    // A resource that subscribes to the concat file is refreshed by the generated file. The refresh
    // goes through a whit tagged with the concat file's name.
    m.fake.files.put("/f", "old");
    m.run(fragments + file + resource("Anchor", "a", R"("subscribe":"Concat_file[F]")"));
    EXPECT_TRUE(std::ranges::any_of(m.log.records, [](const base::Diagnostic& d) {
        return d.source == "F" && d.message == "Scheduling refresh of Anchor[a]" &&
               std::ranges::count(d.tags, "completed_f") == 1;
    }));
    EXPECT_EQ(
        std::ranges::count(
            m.desired, "{sha256}07a635a4d555a78c46fe7208fdbac69b97b5909461bf0678007a114f76ebd8d5"),
        1);
    // Sorted as strings.
    m.run(fragments + resource("Concat_file", "F", R"("path":"/f","order":"alpha")"));
    EXPECT_EQ(m.fake.files.read("/f").value_or(""), "ten\ntwo\ntwo too\n");
    EXPECT_EQ(m.run(resource("Concat_fragment", "a", R"("target":"/g","content":"x")")),
              Lines{in_main("Concat_fragment[a]: Target Concat_file with path or title '/g' not "
                            "found in the catalog")});
    EXPECT_EQ(m.run(resource("Concat_fragment", "a", R"("target":"/g")")),
              Lines{"Validation of Concat_fragment[a] failed: Set either 'source' or 'content'"});
    EXPECT_EQ(m.run(resource("Concat_fragment", "x", R"("target":"/f","content":"x","order":"x")") +
                    fragments + file)[0],
              in_main("Concat_file[F]: Failed to generate additional resources using "
                      "'eval_generate': comparison of Array with Array failed"));
}

TEST(Concat, SecretContents) {
    Machine m;
    // If a fragment is sensitive, the whole file is.
    const std::string marked =
        resource("Concat_file", "G", R"("path":"/g")") +
        resource("Concat_fragment", "s",
                 R"("target":"G","content":{"__ptype":"Sensitive","__pvalue":"s"})");
    m.fake.files.put("/g", "old");
    EXPECT_EQ(m.run(marked), Lines{in_main("File[/g]/content: changed [redacted] to [redacted]")});
    EXPECT_EQ(m.fake.files.read("/g").value_or(""), "s");
}

TEST(Alternatives, SelectsAlternative) {
    Machine m;
    m.fake.files.put("/etc/os-release", "ID=debian\n");
    m.fake.processes.programs = {"update-alternatives"};
    std::string editor = "/bin/nano", mode = "auto";
    const std::string program = "/usr/bin/update-alternatives ";
    m.fake.processes.answer(program + "--get-selections", [&](const sys::Command&) {
        return sys::Outcome{.output = "editor   " + mode + "   " + editor +
                                      "\npager    manual   /bin/less\n"};
    });
    m.fake.processes.answer(program + "--display editor", [&](const sys::Command&) {
        return sys::Outcome{.output = "editor - " + mode + " mode\n  link is /usr/bin/editor\n"};
    });
    m.fake.processes.answer(program + "--display none",
                            {.status = 2, .output = "no alternatives for none\n"});
    m.fake.processes.answer(program + "--set editor /bin/vi", [&](const sys::Command&) {
        editor = "/bin/vi";
        mode = "manual";
        return sys::Outcome{};
    });
    m.fake.processes.answer(program + "--auto editor", [&](const sys::Command&) {
        mode = "auto";
        return sys::Outcome{};
    });
    const std::string vi = resource("Alternatives", "editor", R"("path":"/bin/vi")");
    const std::string less = resource("Alternatives", "pager", R"("path":"/bin/less")");
    EXPECT_EQ(m.run(vi + less), Lines{in_main("Alternatives[editor]/path: path changed "
                                              "'/bin/nano' to '/bin/vi'")});
    m.fake.processes.calls.clear();
    EXPECT_EQ(m.run(vi + less), Lines{});
    // One query returns all alternatives, as long as nothing changes.
    EXPECT_EQ(m.fake.processes.texts(), Lines{program + "--get-selections"});
    EXPECT_EQ(m.run(resource("Alternatives", "editor", R"("mode":"auto")")),
              Lines{in_main("Alternatives[editor]/mode: mode changed 'manual' to 'auto'")});
    EXPECT_EQ(m.run(resource("Alternatives", "none", R"("mode":"auto")")),
              Lines{in_main("Alternatives[none]: Could not evaluate: Execution of "
                            "'/usr/bin/update-alternatives --display none' returned 2: no "
                            "alternatives for none")});
    EXPECT_EQ(m.run(resource("Alternatives", "editor", R"("path":"vi")")),
              Lines{"Parameter path failed on Alternatives[editor]: path must be a fully qualified "
                    "path"});
    EXPECT_EQ(m.run(resource("Alternatives", "editor", R"("mode":"auto","path":"/bin/vi")")),
              Lines{"Validation of Alternatives[editor] failed: Mode cannot be 'auto' if a path is "
                    "given"});
}

// The checksums of "payload".
constexpr const char* kPayload =
    R"("checksum_type":"sha256","checksum":"239f59ed55e737c77147cf55ad0c1b030b6d7ee748a7426952f9b852d5a935e5")";

TEST(Archive, ExtractsAndRemoves) {
    Machine m;
    m.fake.processes.programs = {"curl"};
    m.fake.files.put("/src/a.tgz", "payload");
    m.fake.files.put("/out/.keep", "");
    m.fake.processes.answer("tar xzf /dl/a.tgz", [&](const sys::Command& command) {
        EXPECT_EQ(command.cwd, "/out");
        EXPECT_EQ(m.fake.files.read("/dl/a.tgz").value_or(""), "payload");
        m.fake.files.put("/out/x", "x");
        return sys::Outcome{};
    });
    const std::string a =
        resource("Archive", "/dl/a.tgz",
                 std::string(R"("source":"/src/a.tgz","extract":true,"extract_path":"/out",)") +
                     R"("creates":"/out/x",)" + kPayload);
    EXPECT_EQ(m.run(a),
              Lines{in_main("Archive[/dl/a.tgz]/ensure: download archive from /src/a.tgz to "
                            "/dl/a.tgz and extracted in /out with cleanup")});
    EXPECT_FALSE(m.fake.files.exists("/dl/a.tgz"));
    EXPECT_EQ(m.fake.files.list("/tmp").value_or(Lines{}), Lines{".keep"});
    EXPECT_EQ(m.run(a), Lines{});
    const Lines unknown = m.run(resource(
        "Archive", "/dl/b.tgz", R"("source":"/src/a.tgz","extract":true,"extract_path":"/none")"));
    ASSERT_FALSE(unknown.empty());
    EXPECT_EQ(unknown[0],
              "Could not set 'present' on ensure: Working directory /none does not exist!");
    EXPECT_FALSE(m.fake.files.exists("/dl/b.tgz"));  // cleanup still runs
}

// The program that unpacks an archive follows links, so the type checks each path before.
TEST(Archive, RefusesLinksOfOtherUsers) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root follows no links of other users";
    const auto files = sys::make_guarded_file_system();
    char name[] = "/tmp/archive-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    const std::string top = name;
    ASSERT_EQ(::chmod(name, 0755), 0);
    ASSERT_TRUE(files->make_directory(top + "/victim", 0755));
    ASSERT_TRUE(files->write(top + "/victim/f", "secret", 0600));
    ASSERT_TRUE(files->write(top + "/a.tgz", "payload", 0644));
    ASSERT_TRUE(files->make_directory(top + "/user", 0755));
    ASSERT_TRUE(files->make_link(top + "/victim", top + "/user/link"));
    for (const char* path : {"/user", "/user/link"})
        ASSERT_TRUE(files->set_owner(top + path, 65534, 65534, false));
    Machine m;
    m.fake.processes.programs = {"curl"};
    m.files = files.get();
    const std::string link = top + "/user/link", own = top + "/b.tgz";
    const auto text = [](const char* key, const std::string& v) {
        return fmt::format(R"("{}":"{}")", key, v);
    };
    const std::string from = text("source", top + "/a.tgz");
    const std::string extracted = from + R"(,"extract":true,)" + text("extract_path", link);
    const std::pair<std::string, std::string> cases[] = {
        {link + "/new.tgz", from},
        {link + "/f", from + "," + kPayload},
        {link + "/f", R"("ensure":"absent")"},
        {own, text("source", link + "/f")},
        {own, text("source", "file://" + link + "/f")},
        {own, from + "," + text("temp_dir", link)},
        {own, extracted},
        {own, extracted + "," + text("creates", top + "/none")},
        {own, extracted + "," + text("extract_command", "unpack %s")},
        {own, extracted + R"(,"user":"root")"},
    };
    for (const auto& [title, parameters] : cases) {
        SCOPED_TRACE(title + " " + parameters);
        (void)files->remove(own);
        const Lines said = m.run(resource("Archive", title, parameters));
        ASSERT_FALSE(said.empty());
        EXPECT_TRUE(
            said[0].contains("Refusing to follow a link of user 65534 to a file of user 0") ||
            said[0].contains(fmt::format("Source file: {}/f does not exists.", link)))
            << said[0];
        EXPECT_EQ(m.fake.processes.texts(), Lines{});
        EXPECT_EQ(files->list(top + "/victim").value_or(Lines{}), Lines{"f"});
        EXPECT_EQ(files->read(top + "/victim/f").value_or("gone"), "secret");
        EXPECT_EQ(files->lstat(top + "/victim/f")->mode, 0600U);
    }
    EXPECT_TRUE(files->remove_all(top));
}

TEST(Archive, DiscardsFileWithWrongChecksum) {
    Machine m;
    m.fake.processes.programs = {"curl"};
    m.fake.files.put("/dl/a", "old");
    std::string content = "tampered";
    m.fake.processes.answer("/usr/bin/curl http://h/a -o /tmp/a_", [&](const sys::Command& c) {
        m.fake.files.put(c.argv[3], content);
        return sys::Outcome{};
    });
    const std::string a =
        resource("Archive", "/dl/a", std::string(R"("source":"http://h/a",)") + kPayload);
    const Lines got = m.run(a);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_TRUE(got[0].starts_with("Download file checksum mismatch (expected: 239f59ed"));
    EXPECT_EQ(m.fake.files.list("/tmp").value_or(Lines{}), Lines{".keep"});
    EXPECT_FALSE(m.fake.files.exists("/dl/a"));
    content = "payload";
    EXPECT_EQ(m.run(a), Lines{in_main("Archive[/dl/a]/ensure: download archive from http://h/a "
                                      "to /dl/a  with cleanup")});
    EXPECT_EQ(m.run(a), Lines{});
    EXPECT_EQ(m.run(resource("Archive", "/dl/a", R"("ensure":"absent")")),
              Lines{in_main("Archive[/dl/a]/ensure: remove archive: /dl/a ")});
    EXPECT_EQ(m.run(resource("Archive", "/dl/a", R"("source":"/none")"))[0],
              "Source file: /none does not exists.");
}

/// A machine with a git that has one repository; its responses depend on the first words of a
/// command.
struct GitMachine : Machine {
    GitMachine() {
        fake.processes.programs = {"git"};
        says("git ", "");
        says("git --version", "git version 2.39.5\n");
        says("git config -l", "remote.origin.url=/up\n");
        says("git config --get remote.origin.url", "/up\n");
        says("git remote", "origin\n");
        says("git tag -l", "");
        says("git branch", "* main\n  remotes/origin/HEAD -> origin/main\n  remotes/origin/dev\n");
        says("git rev-parse HEAD", "1\n");
        says("git rev-parse main", "1\n");
        says("git rev-parse origin/dev", "2\n");
        fake.processes.answer("git clone", [this](const sys::Command&) {
            fake.files.put("/r/.git/config", "");
            return sys::Outcome{};
        });
    }
    void says(const std::string& command, const std::string& text) {
        sys::Outcome out;
        out.output = text;
        fake.processes.answer(command, out);
    }
    void refuses(const std::string& command) {
        sys::Outcome out;
        out.status = 1;
        fake.processes.answer(command, out);
    }
    /// Returns the changing commands since the last call.
    Lines changes() {
        Lines out;
        for (const std::string& text : fake.processes.texts()) {
            for (const char* verb : {"clone", "checkout", "reset", "stash", "fetch", "init",
                                     "config remote", "config --local --bool", "submodule"})
                if (text.starts_with(std::string("git ") + verb)) out.push_back(text);
        }
        fake.processes.calls.clear();
        return out;
    }
    Lines run_repository(const std::string& rest) {
        return run(resource("Vcsrepo", "/r", R"("provider":"git",)" + rest));
    }
};

TEST(Vcsrepo, ClonesAndFollowsRevision) {
    GitMachine m;
    const std::string base = R"("ensure":"present","source":"/up")";
    EXPECT_EQ(m.run_repository(base + R"(,"revision":"dev","depth":1)"),
              Lines{in_main("Vcsrepo[/r]/ensure: created")});
    EXPECT_EQ(m.changes(), (Lines{"git clone --depth 1 --branch dev /up /r",
                                  "git checkout --force -b dev --track origin/dev",
                                  "git submodule update --init --recursive"}));
    EXPECT_EQ(m.run_repository(base + R"(,"revision":"main")"), Lines{});
    EXPECT_EQ(m.changes(), (Lines{"git fetch origin", "git fetch --tags --force origin"}));
    EXPECT_EQ(m.run_repository(base + R"(,"revision":"dev","keep_local_changes":true)"),
              Lines{in_main("Vcsrepo[/r]/revision: revision changed '1' to 'dev'")});
    EXPECT_EQ(m.changes(),
              (Lines{"git fetch origin", "git fetch --tags --force origin", "git stash save",
                     "git checkout --force -b dev --track origin/dev", "git stash pop",
                     "git submodule update --init --recursive"}));
    m.says("git rev-parse --revs-only", "");
    EXPECT_EQ(m.run_repository(base + R"(,"revision":"none")"),
              Lines{in_main("Vcsrepo[/r]: Could not evaluate: none is not a local or remote ref")});
}

TEST(Vcsrepo, FollowsTheLatest) {
    GitMachine m;
    m.fake.files.put("/r/.git/config", "");
    m.says("git rev-parse origin/main", "3\n");
    EXPECT_EQ(m.run_repository(R"("ensure":"latest","source":"/up","submodules":false)"),
              (Lines{in_main("Vcsrepo[/r]/ensure: Updating to latest 'main' revision"),
                     in_main("Vcsrepo[/r]/ensure: ensure changed 'present' to 'latest'")}));
    const Lines changes = m.changes();
    ASSERT_GE(changes.size(), 2u);
    EXPECT_EQ(changes[changes.size() - 2], "git checkout --force main");
    EXPECT_EQ(changes.back(), "git reset --hard origin/main");
    m.says("git rev-parse origin/main", "1\n");
    EXPECT_EQ(m.run_repository(R"("ensure":"latest","source":"/up")"), Lines{});
}

TEST(Vcsrepo, ReplacesExistingFilesOnlyWithForce) {
    GitMachine m;
    m.fake.files.put("/r/x", "x");
    const std::string base = R"("ensure":"present","source":"/up")";
    const Lines refused = m.run_repository(base);
    ASSERT_FALSE(refused.empty());
    EXPECT_TRUE(refused.back().ends_with("Path /r exists and is not the desired repository."));
    EXPECT_TRUE(m.fake.files.exists("/r/x"));
    m.run_repository(base + R"(,"force":true)");
    EXPECT_FALSE(m.fake.files.exists("/r/x"));
    EXPECT_TRUE(m.fake.files.exists("/r/.git/config"));
}

TEST(Vcsrepo, ConvertsToBareAndRemoves) {
    GitMachine m;
    m.fake.files.put("/r/.git/config", "");
    m.fake.files.put("/r/x", "x");
    m.refuses("git config --get-regexp");
    EXPECT_EQ(m.run_repository(R"("ensure":"mirror","source":"/up")").back(),
              in_main("Vcsrepo[/r]/ensure: ensure changed 'present' to 'mirror'"));
    EXPECT_EQ(m.changes(), (Lines{"git config --local --bool core.bare true",
                                  "git config remote.origin.mirror true"}));
    EXPECT_TRUE(m.fake.files.exists("/r/config"));
    EXPECT_FALSE(m.fake.files.exists("/r/x"));
    EXPECT_EQ(m.run_repository(R"("ensure":"bare","source":"/up")"), Lines{});
    EXPECT_EQ(m.run_repository(R"("ensure":"absent")"),
              Lines{in_main("Vcsrepo[/r]/ensure: removed")});
    EXPECT_FALSE(m.fake.files.exists("/r"));
}

TEST(ModuleReleases, ContentDeterminesRelease) {
    sys::FakeSystem fake;
    base::MemorySink log;
    Context context{.system = fake.system, .log = log};
    fake.files.put("/m/lib/puppet/type/toy.rb", "type");
    fake.files.put("/m/lib/puppet/provider/toy/ruby.rb", "provider");
    std::optional<std::string> file = "/m/lib/puppet/type/toy.rb";
    RubyTypes::ProviderFiles providers{{"toy", {"/m/lib/puppet/provider/toy/ruby.rb"}}};
    const std::string_view names[] = {"puppet/type/toy.rb", "puppet/provider/toy/ruby.rb",
                                      "puppet/util/none.rb"};
    const ModuleRelease releases[] = {{1, 7}, {0x26345f99b8e533ff, 3}};
    const ModuleType type{"toy", names, releases, 9};
    const auto level = [&] {
        RubyTypes types(context, [&] {
            RubyTypes::Parts parts;
            parts.file_of = [&](std::string_view) { return file; };
            parts.provider_files = [&] { return providers; };
            return parts;
        });
        context.ruby_types = &types;
        const auto found = types.level(type);
        context.ruby_types = nullptr;
        return found;
    };
    EXPECT_EQ(level(), 3);
    // A provider of another module.
    providers["toy"].push_back("/n/lib/puppet/provider/toy/other.rb");
    EXPECT_EQ(level(), std::nullopt);
    providers["toy"].pop_back();
    fake.files.put("/m/lib/puppet/provider/toy/ruby.rb", "provider!");
    EXPECT_EQ(level(), std::nullopt);
    file.reset();
    EXPECT_EQ(level(), 9);
}

TEST(ModuleTypes, AuditedParameterCountsAsMissing) {
    Machine m;
    EXPECT_EQ(m.run(resource("File_line", "l", R"("path":"/tmp/f","audit":"all")")),
              Lines{"Validation of File_line[l] failed: line is a required attribute"});
}

TEST(ModuleTypes, ValuesCannotAddLines) {
    const auto setting = [](std::string_view section, std::string_view name,
                            std::string_view value) {
        return resource("Ini_setting", "i",
                        fmt::format(R"("path":"/tmp/f","section":"{}","setting":"{}","value":"{}")",
                                    section, name, value));
    };
    for (const std::string& wrong :
         {setting("s", "a", "b\\n[evil]"), setting("s]\\n[evil", "a", "b"),
          setting("s", "a\\nevil", "b"), setting("s", "a", "b\\n\\nevil = 1")}) {
        Machine m;
        const auto said = m.run(wrong);
        ASSERT_EQ(said.size(), 1U);
        EXPECT_TRUE(said[0].contains(" must not contain a newline")) << said[0];
        EXPECT_FALSE(m.fake.files.exists("/tmp/f"));
    }
    // A continued line is one setting.
    Machine m;
    EXPECT_EQ(m.run(setting("s", "a", "b\\n  c")).size(), 1U);
    EXPECT_EQ(m.fake.files.read("/tmp/f").value_or(""), "[s]\na = b\n  c\n");
}

TEST(ModuleReleases, TableIsSorted) {
    const auto all = module_types();
    EXPECT_TRUE(std::ranges::is_sorted(all, {}, &ModuleType::name));
    for (const ModuleType& t : all) {
        EXPECT_TRUE(std::ranges::is_sorted(t.releases, {}, &ModuleRelease::digest)) << t.name;
        EXPECT_EQ(find_module_type_releases(t.name), &t);
    }
    EXPECT_EQ(find_module_type_releases("file"), nullptr);
}

}  // namespace
}  // namespace bunraku::apply

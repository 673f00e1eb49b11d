// SPDX-License-Identifier: Apache-2.0
// Tests the files of a commit: all results equal those for a checkout, and errors are clear.
#include "language/environment/commit_files.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

#include "core/base/diagnostic.h"

namespace bunraku::environment {
namespace {

namespace fs = std::filesystem;

class CommitFilesTest : public testing::Test {
protected:
    CommitFilesTest() {
        char name[] = "/tmp/commit_files_test_XXXXXX";
        root_ = ::mkdtemp(name);
        repository_ = root_ + "/control";
        fs::create_directory(repository_);
        git("init --quiet -b main .");
    }
    ~CommitFilesTest() override { fs::remove_all(root_); }

    void git(const std::string& arguments) {
        const auto line = fmt::format(
            "cd '{}' && git -c user.name=t -c user.email=t@example.org -c "
            "protocol.file.allow=always {} >/dev/null 2>&1",
            repository_, arguments);
        ASSERT_EQ(std::system(line.c_str()), 0) << line;
    }
    void write(const std::string& path, std::string_view text) {
        const auto full = fs::path(repository_) / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full, std::ios::binary) << text;
    }
    void link(const std::string& target, const std::string& path) {
        fs::create_directories((fs::path(repository_) / path).parent_path());
        fs::create_symlink(target, fs::path(repository_) / path);
    }
    void commit() {
        git("add -A");
        git("commit --quiet --allow-empty -m x");
    }
    std::shared_ptr<const CommitFiles> open(const std::string& revision = "HEAD") {
        auto opened = CommitFiles::open(repository_, revision);
        EXPECT_TRUE(opened) << opened.error().message;
        return opened ? *opened : nullptr;
    }
    std::string at(const std::string& path) const { return repository_ + "/" + path; }
    static std::string read(const Files& files, const std::string& path) {
        auto text = files.read(path);
        return text ? *text : fmt::format("errno {}", text.error().code);
    }
    /// Returns the results of all queries for a path.
    static std::string all(const Files& files, const std::string& path) {
        const auto stamp = files.stat(path);
        return fmt::format("{}: {} {} {} [{}] link {} text {}", path, stamp.exists, stamp.directory,
                           files.is_real_folder(path), fmt::join(files.list(path), ","),
                           files.link(path).value_or("-"), read(files, path));
    }

    std::string root_, repository_;
};

TEST_F(CommitFilesTest, MatchesCheckout) {
    write("environment.conf", "modulepath = modules\n");
    write("modules/a/manifests/init.pp", "class a { }\n");
    write("modules/a/files/bytes", std::string_view("a\0b\r\n\xff", 6));
    write("modules/a/files/empty", "");
    write("modules/a/files/with blank\ttab\nline", "odd");
    write("modules/a.b/x", "1");
    write("data/common.yaml", "a: 1\n");
    write("data/.hidden.yaml", "h: 1\n");
    write("data/nodes/[x].yaml", "n: 1\n");
    link("common.yaml", "data/link.yaml");
    link("../data", "modules/linked");
    link("linked/nodes", "modules/twice");
    link(repository_ + "/data/common.yaml", "absolute.yaml");
    link("nowhere", "dangling");
    link("loop", "loop");
    commit();
    const auto files = open();
    const Files& disk = *disk_files();
    for (const char* path : {"",
                             "/",
                             "/.",
                             "/environment.conf",
                             "//environment.conf",
                             "/environment.conf/x",
                             "/modules",
                             "/modules/",
                             "/modules/a",
                             "/modules/a/manifests/init.pp",
                             "/modules/../environment.conf",
                             "/modules/a/files/bytes",
                             "/modules/a/files/empty",
                             "/modules/a/files/with blank\ttab\nline",
                             "/modules/a.b",
                             "/modules/ab",
                             "/data",
                             "/data/link.yaml",
                             "/data/common.yaml",
                             "/modules/linked",
                             "/modules/linked/common.yaml",
                             "/modules/linked/..",
                             "/modules/twice",
                             "/modules/twice/[x].yaml",
                             "/absolute.yaml",
                             "/dangling",
                             "/dangling/x",
                             "/loop",
                             "/loop/x",
                             "/none",
                             "/none/x"}) {
        const std::string full = repository_ + path;
        std::string expected = all(disk, full);
        // The checkout contains .git, the commit does not.
        if (const auto own = expected.find(".git,"); own != std::string::npos)
            expected.erase(own, 5);
        EXPECT_EQ(all(*files, full), expected);
    }
    for (const char* pattern :
         {"/data/*.yaml", "/data/*", "/data/**", "/data/.*yaml", "/data/{common,none}.yaml",
          "/data/nodes/\\[x\\].yaml", "/data/nodes/[[]x].yaml", "/*/*", "/modules/*/manifests",
          "/modules/linked/*", "/dang*", "/none/*", "/environment.conf", "/data/[a-c]*"}) {
        EXPECT_EQ(files->glob(repository_ + pattern), disk.glob(repository_ + pattern)) << pattern;
    }
}

TEST_F(CommitFilesTest, FolderComesFromCommitAndRestFromDisk) {
    write("x", "old");
    commit();
    git("tag -a -m t v1");
    write("x", "new");
    write("later", "1");
    commit();
    write("x", "changed");
    write("untracked", "1");
    std::ofstream(root_ + "/outside") << "outside";
    std::ofstream(root_ + "/control2") << "beside";
    for (const char* revision : {"HEAD~1", "v1", "main~1"}) {
        const auto files = open(revision);
        EXPECT_EQ(read(*files, at("x")), "old");
        EXPECT_EQ(files->list(repository_), std::vector<std::string>{"x"});
        EXPECT_FALSE(files->stat(at("later")).exists);
        EXPECT_FALSE(files->stat(at(".git")).exists);
        EXPECT_EQ(read(*files, root_ + "/outside"), "outside");
        EXPECT_EQ(read(*files, root_ + "/control2"), "beside");
        EXPECT_EQ(read(*files, at("../outside")), "outside");
    }
    const auto before = open("HEAD~1"), after = open("HEAD");
    EXPECT_EQ(read(*after, at("x")), "new");
    EXPECT_FALSE(after->stat(at("untracked")).exists);
    EXPECT_TRUE(after->stat(at("x")).same(open("main")->stat(at("x"))));
    EXPECT_FALSE(after->stat(at("x")).same(before->stat(at("x"))));
    EXPECT_FALSE(after->stat(repository_).same(before->stat(repository_)));
    EXPECT_EQ(after->version().size(), 40U);
}

TEST_F(CommitFilesTest, SubfolderAndBareRepository) {
    write("environments/production/manifests/site.pp", "1");
    write("shared/x", "2");
    commit();
    auto inner = CommitFiles::open(at("environments/production"), "HEAD");
    ASSERT_TRUE(inner);
    EXPECT_EQ((*inner)->root(), repository_);
    EXPECT_EQ(read(**inner, at("environments/production/manifests/site.pp")), "1");
    EXPECT_EQ(read(**inner, at("environments/production/../../shared/x")), "2");
    fs::remove_all(at("shared"));
    EXPECT_EQ(read(**inner, at("shared/x")), "2");

    const std::string bare = root_ + "/bare.git";
    git("clone --quiet --bare . " + bare);
    auto of_bare = CommitFiles::open(bare + "/", "main");
    ASSERT_TRUE(of_bare) << of_bare.error().message;
    EXPECT_EQ(read(**of_bare, bare + "/shared/x"), "2");
    EXPECT_EQ((*of_bare)->list(bare), (std::vector<std::string>{"environments", "shared"}));
}

TEST_F(CommitFilesTest, LinksOutOfRepository) {
    std::ofstream(root_ + "/outside") << "outside";
    link("../../outside", "modules/up");
    link(root_ + "/outside", "modules/absolute");
    link("/", "modules/top");
    write("modules/a/x", "1");
    commit();
    const auto files = open();
    for (const auto& [path, target] : {std::pair("modules/up", std::string("../../outside")),
                                       std::pair("modules/absolute", root_ + "/outside"),
                                       std::pair("modules/top/etc", std::string("/"))}) {
        const auto expected =
            fmt::format("The link {} of commit {} leads out of the repository, to {}",
                        at(std::string(path).starts_with("modules/top") ? "modules/top" : path),
                        files->version(), target);
        const auto text = files->read(at(path));
        ASSERT_FALSE(text);
        EXPECT_EQ(text.error().message, expected);
        for (const auto& ask : std::vector<std::function<void()>>{[&] { files->stat(at(path)); },
                                                                  [&] { files->list(at(path)); }}) {
            try {
                ask();
                ADD_FAILURE() << path;
            } catch (const base::PuppetError& e) {
                EXPECT_EQ(e.message(), expected);
            }
        }
    }
    // Calls that do not follow the link do not report an error.
    EXPECT_EQ(files->link(at("modules/up")), "../../outside");
    EXPECT_FALSE(files->is_real_folder(at("modules/up")));
    EXPECT_EQ(read(*files, at("modules/a/x")), "1");
    EXPECT_THROW(files->glob(at("modules/*/x")), base::PuppetError);
}

TEST_F(CommitFilesTest, Submodules) {
    const std::string other = root_ + "/other";
    ASSERT_EQ(std::system(fmt::format("git init --quiet {0} && cd {0} && touch f && git add f && "
                                      "git -c user.name=t -c user.email=t commit --quiet -m x",
                                      other)
                              .c_str()),
              0);
    git("-c protocol.file.allow=always submodule add " + other + " modules/sub");
    commit();
    {
        const auto files = open();
        EXPECT_EQ(files->submodules(), std::vector<std::string>());
        EXPECT_EQ(files->list(at("modules/sub")), std::vector<std::string>{"f"});
        EXPECT_EQ(read(*files, at("modules/sub/f")), "");
    }
    git("submodule deinit --force modules/sub");
    const auto files = open();
    EXPECT_EQ(files->submodules(), std::vector<std::string>{"modules/sub"});
    EXPECT_TRUE(files->stat(at("modules/sub")).directory);
    EXPECT_EQ(files->list(at("modules/sub")), std::vector<std::string>());
    EXPECT_FALSE(files->stat(at("modules/sub/f")).exists);
    const auto text = files->read(at("modules/sub/f"));
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ENOENT);
    EXPECT_EQ(text.error().message,
              fmt::format("{0}/modules/sub/f is in the submodule {0}/modules/sub: commit {1} does "
                          "not hold its files",
                          repository_, files->version()));
}

TEST_F(CommitFilesTest, ModulesOfAPuppetfile) {
    write("Puppetfile", "mod 'a/b'");
    write("modules/.gitignore", "*");
    git("add -f modules/.gitignore");
    commit();
    write("modules/b/f", "installed");
    const auto files = open();
    EXPECT_EQ(files->installed(), std::vector<std::string>{"modules"});
    EXPECT_EQ(read(*files, at("modules/b/f")), "installed");
    EXPECT_EQ(files->list(at("modules")), (std::vector<std::string>{".gitignore", "b"}));
    EXPECT_TRUE(files->stat(at("modules/b")).directory);
    EXPECT_FALSE(files->stat(at("modules/c")).exists);
    // The commit's files have priority over the files on the disk.
    git("add -f modules/b/f");
    commit();
    write("modules/b/f", "changed");
    EXPECT_EQ(open()->installed(), std::vector<std::string>());
    EXPECT_EQ(read(*open(), at("modules/b/f")), "installed");
}

TEST_F(CommitFilesTest, ReportsUnopenableCommits) {
    write("x", "1");
    commit();
    const auto error = [](const std::string& folder, const std::string& revision) {
        auto opened = CommitFiles::open(folder, revision);
        return opened ? std::string("opened") : opened.error().message;
    };
    const std::string start = "The git repository " + repository_ + " has no revision ";
    EXPECT_EQ(error(repository_, "none"), start + "'none'");
    EXPECT_EQ(error(repository_, ""), start + "''");
    EXPECT_EQ(error(repository_, "--all"), start + "'--all'");
    EXPECT_EQ(error(repository_, "HEAD:x"), start + "'HEAD:x'");
    EXPECT_EQ(error(repository_, "0000000000000000000000000000000000000000"),
              start + "'0000000000000000000000000000000000000000'");
    fs::create_directory(root_ + "/plain");
    EXPECT_EQ(error(root_ + "/plain", "HEAD"),
              root_ +
                  "/plain is not in a git repository: fatal: not a git repository (or any of the "
                  "parent directories): .git");
    EXPECT_EQ(error(root_ + "/none", "HEAD"), "There is no folder " + root_ + "/none");
    // A link into the folder of a repository: the path of the repository's top folder is ambiguous.
    write("inner/y", "1");
    commit();
    fs::create_symlink(at("inner"), root_ + "/by_link");
    EXPECT_EQ(error(root_ + "/by_link", "HEAD"),
              root_ +
                  "/by_link is in the git repository through a symbolic link: specify its "
                  "own path");
    fs::create_symlink(repository_, root_ + "/whole");
    EXPECT_EQ(error(root_ + "/whole", "HEAD"), "opened");
}

TEST_F(CommitFilesTest, DamagedObjects) {
    write("good", "good");
    write("gone", "gone for good");
    write("broken", "broken for good");
    commit();
    const auto files = open();
    const auto object = [&](const std::string& path) {
        const auto out = root_ + "/id";
        EXPECT_EQ(
            std::system(fmt::format("cd '{}' && git rev-parse HEAD:{} > {}", repository_, path, out)
                            .c_str()),
            0);
        std::string id;
        std::ifstream(out) >> id;
        return at(".git/objects/" + id.substr(0, 2) + "/" + id.substr(2));
    };
    fs::remove(object("gone"));
    ::chmod(object("broken").c_str(), 0600);
    std::ofstream(object("broken")) << "garbage";
    for (const char* path : {"gone", "broken"}) {
        const auto text = files->read(at(path));
        ASSERT_FALSE(text) << path;
        EXPECT_EQ(text.error().code, EIO);
        EXPECT_TRUE(text.error().message.starts_with(
            fmt::format("Could not read {} of commit {}: ", at(path), files->version())))
            << text.error().message;
        EXPECT_NE(text.error().message.find("fatal: "), std::string::npos) << text.error().message;
        EXPECT_EQ(read(*files, at("good")), "good") << "after " << path;
    }
    fs::remove(object(""));
    EXPECT_FALSE(CommitFiles::open(repository_, "HEAD"));
}

// Trees that git itself never writes and that a checkout refuses, because their files would be
// written to other paths.
TEST_F(CommitFilesTest, RefusesTreesWithUnsafePaths) {
    write("x", "text");
    link("/etc", "l");
    commit();
    const char* const make =
        "cd '{0}' && sub=$(git write-tree) && "
        "link=$(git rev-parse HEAD:l) && "
        "bytes() {{ perl -e 'print pack(\"H*\", $ARGV[0])' \"$1\"; }} && "
        "{{ {1}; }} > ../tree && tree=$(git hash-object -t tree -w --literally ../tree) && "
        "git update-ref refs/heads/bad "
        "$(git -c user.name=t -c user.email=t@example.org commit-tree -m x \"$tree\")";
    struct Row {
        const char *tree, *path;
    };
    for (const Row& r :
         {Row{"printf '40000 ..\\0'; bytes $sub", ".."},
          Row{"printf '40000 .\\0'; bytes $sub", "."},
          Row{"printf '40000 .GIT\\0'; bytes $sub", ".GIT"},
          Row{"printf '40000 a\\0'; bytes $sub; printf '120000 a\\0'; bytes $link", "a/"}}) {
        ASSERT_EQ(std::system(fmt::format(fmt::runtime(make), repository_, r.tree).c_str()), 0)
            << r.path;
        const auto opened = CommitFiles::open(repository_, "bad");
        ASSERT_FALSE(opened) << r.path;
        EXPECT_NE(opened.error().message.find(fmt::format(" contains the path '{}", r.path)),
                  std::string::npos)
            << opened.error().message;
        EXPECT_TRUE(opened.error().message.ends_with("which is not valid"));
    }
}

TEST_F(CommitFilesTest, WritesFolderForPrograms) {
    write("lib/x.rb", "1");
    write("bin/run", "#!/bin/sh\n");
    ::chmod(at("bin/run").c_str(), 0755);
    link("lib/x.rb", "relative");
    link(at("lib"), "absolute");
    commit();
    fs::remove(at("lib/x.rb"));
    std::string place;
    {
        const auto files = open();
        ASSERT_NE(files->moved(), nullptr);
        place = files->moved()->place;
        EXPECT_EQ(files->moved()->known, repository_);
        EXPECT_EQ(files->place(at("lib/x.rb")), place + "/lib/x.rb");
        EXPECT_EQ(files->place("/usr/bin/env"), "/usr/bin/env");
        struct stat st{};
        ASSERT_EQ(::stat(place.c_str(), &st), 0);
        EXPECT_EQ(st.st_mode & 07777, 0700U);
        EXPECT_EQ(::stat((place + "/bin/run").c_str(), &st), 0);
        EXPECT_EQ(st.st_mode & 07777, 0700U);
        for (const char* path : {"/lib/x.rb", "/relative", "/absolute/x.rb"})
            EXPECT_EQ(read(*disk_files(), place + path), "1") << path;
    }
    EXPECT_FALSE(fs::exists(place));
}

TEST_F(CommitFilesTest, ManyThreads) {
    for (int i = 0; i < 50; ++i) write(fmt::format("f{}", i), std::string(1000 + i, 'x'));
    commit();
    const auto files = open();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i)
                EXPECT_EQ(read(*files, at(fmt::format("f{}", i))).size(), 1000U + i);
        });
    }
}

TEST(PathMapping, MatchesWholeNamesOnly) {
    const base::PathMapping moved{"/a/b", "/tmp/x"};
    for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
             {"/a/b", "/tmp/x"},
             {"/a/b/c", "/tmp/x/c"},
             {"/a/bc", "/a/bc"},
             {"/a/b-c", "/a/b-c"},
             {"/a/b.c", "/a/b.c"},
             {"see /a/b.", "see /tmp/x."},
             {"/x/a/b", "/x/a/b"},
             {"'/a/b','/a/b/c':1", "'/tmp/x','/tmp/x/c':1"},
             {"/a/b/a/b", "/tmp/x/a/b"},
             {"", ""}}) {
        EXPECT_EQ(moved.placed(text), expected);
        EXPECT_EQ(moved.named(expected), text);
    }
}

}  // namespace
}  // namespace bunraku::environment

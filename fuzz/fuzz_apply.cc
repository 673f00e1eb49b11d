// SPDX-License-Identifier: Apache-2.0
// Applies catalogs of native types with odd values to a simulated machine. For all input, either
// the run ends with a report, or the catalog is refused with a message. The bytes choose types,
// attributes, values, the machine, and which of its calls fail.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/json_text.h"
#include "resources/apply/run.h"
#include "resources/catalog/agent_json.h"
#include "resources/catalog/json_text.h"
#include "resources/restype/spec.h"
#include "testing/fake.h"

using namespace bunraku;

namespace {

/// Consumes the input bytes from the front; returns zeros after the end.
class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    bool empty() const { return size_ == 0; }
    unsigned next() {
        if (size_ == 0) return 0;
        --size_;
        return *data_++;
    }
    std::string text(std::size_t limit) {
        std::string out;
        while (out.size() < limit && size_ > 0) {
            const char c = static_cast<char>(next());
            if (c == '\0') break;
            out += c;
        }
        return out;
    }

private:
    const std::uint8_t* data_;
    std::size_t size_;
};

// Words that have a meaning for some type or attribute.
constexpr std::string_view kWords[] = {"",
                                       "/",
                                       "/tmp/a",
                                       "/tmp/d",
                                       "/tmp/d/b",
                                       "/tmp/l",
                                       "/src",
                                       "/src/a",
                                       "/etc/hosts",
                                       "relative",
                                       "present",
                                       "absent",
                                       "file",
                                       "directory",
                                       "link",
                                       "latest",
                                       "purged",
                                       "held",
                                       "installed",
                                       "running",
                                       "stopped",
                                       "mounted",
                                       "unmounted",
                                       "defined",
                                       "true",
                                       "false",
                                       "yes",
                                       "no",
                                       "inf",
                                       "remote",
                                       "manage",
                                       "follow",
                                       "root",
                                       "web",
                                       "nosuch",
                                       "0",
                                       "1",
                                       "33",
                                       "-1",
                                       "4294967295",
                                       "4294967296",
                                       "99999999999999999999999",
                                       "0644",
                                       "7777",
                                       "u+rwX,g=u,o-t",
                                       "a=,+x",
                                       "u=g",
                                       "1.5",
                                       "1e400",
                                       "NaN",
                                       "{sha256}00",
                                       "{md5}abc",
                                       "{mtime}2026-01-01 00:00:00 +0000",
                                       "md5",
                                       "sha256",
                                       "md5lite",
                                       "mtime",
                                       "none",
                                       "all",
                                       "minimum",
                                       "inclusive",
                                       "2 - 4",
                                       "23:59 - 0:01",
                                       "Mon",
                                       "*/5",
                                       "1-70",
                                       "@reboot",
                                       "reboot",
                                       "january",
                                       "10d",
                                       "5w",
                                       "3k",
                                       "1:2.3-4~x",
                                       ">= 1.0 <2",
                                       "/bin/true",
                                       "/bin/false x",
                                       "echo $(id) | cat",
                                       "'unclosed",
                                       "\"a b\" c",
                                       "PATH=/bin:/x",
                                       "/bin:/usr/bin",
                                       "*",
                                       "[a-",
                                       "**/x",
                                       "File[/tmp/a]",
                                       "Notify[n0]",
                                       "Class[Main]",
                                       "not a ref",
                                       "puppet:///modules/m/f",
                                       "file:///src/a",
                                       "http://x/y",
                                       "opaque:x",
                                       "ssh-rsa",
                                       "AAAA",
                                       "defaults",
                                       "ext4",
                                       "2026-02-30",
                                       "sha1",
                                       "posix",
                                       "shell",
                                       "apt",
                                       "systemd",
                                       "crontab",
                                       "parsed",
                                       "daily",
                                       "distance",
                                       "puppet",
                                       ".bak",
                                       "never"};

std::string value_of(Bytes& in, int depth = 0) {
    const unsigned kind = in.next();
    switch (kind % 10) {
        case 0: return codec::json_string(in.text(40));
        case 1: return std::to_string(static_cast<int>(in.next()) - 128);
        case 2: return std::to_string((std::int64_t{1} << (in.next() % 63)) - 1 + in.next() % 3);
        case 3: return in.next() % 2 ? "true" : "false";
        case 4: {
            if (depth > 2) return "null";
            std::string out = "[";
            for (unsigned n = in.next() % 4; n > 0; --n) {
                out += (out.size() > 1 ? "," : "") + value_of(in, depth + 1);
            }
            return out + "]";
        }
        case 5:
            return depth > 2
                       ? "{}"
                       : "{" + codec::json_string(in.text(8)) + ":" + value_of(in, depth + 1) + "}";
        case 6: return in.next() % 2 ? "1.5" : "-1e300";
        default: return codec::json_string(kWords[in.next() % std::size(kWords)]);
    }
}

// Chooses mostly types that are implemented natively.
const restype::TypeSpec& type_of(Bytes& in) {
    constexpr std::string_view kNative[] = {"file",
                                            "file",
                                            "file",
                                            "exec",
                                            "exec",
                                            "package",
                                            "service",
                                            "user",
                                            "group",
                                            "host",
                                            "cron",
                                            "mount",
                                            "notify",
                                            "tidy",
                                            "schedule",
                                            "filebucket",
                                            "resources",
                                            "sshkey",
                                            "ssh_authorized_key",
                                            "mailalias",
                                            "stage"};
    const unsigned n = in.next();
    if (n % 32 < std::size(kNative)) return *restype::find_type(kNative[n % 32]);
    const auto all = restype::all_types();
    return *all[in.next() % all.size()];
}

std::string resource_of(Bytes& in, unsigned number) {
    const restype::TypeSpec& type = type_of(in);
    std::string name(type.name);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    const unsigned title = in.next();
    std::string out =
        ",{\"type\":" + codec::json_string(name) + ",\"title\":" +
        codec::json_string(title % 4 == 0   ? in.text(30)
                           : title % 4 == 1 ? "n" + std::to_string(number)
                                            : std::string(kWords[in.next() % std::size(kWords)])) +
        ",\"tags\":[],\"kind\":\"compilable_type\",\"parameters\":{";
    bool first = true;
    for (unsigned n = in.next() % 6; n > 0; --n) {
        const auto& metas = restype::metaparameters();
        const unsigned which = in.next();
        const std::string_view attribute =
            which % 8 == 7 || type.attributes.empty()
                ? metas[in.next() % metas.size()].name
                : type.attributes[in.next() % type.attributes.size()].name;
        out += (first ? "" : ",") + codec::json_string(attribute) + ":" + value_of(in);
        first = false;
    }
    return out + "}}";
}

void prepare(sys::FakeSystem& fake, const sys::Outcome& answer) {
    fake.files.put("/src/a", "content\n");
    fake.files.put("/src/d/b", "more\n");
    fake.files.put("/tmp/d/b", "old\n", 0600);
    (void)fake.files.make_link("/src/a", "/tmp/l");
    (void)fake.files.make_link("/tmp/loop", "/tmp/loop");
    fake.files.put("/etc/hosts", "127.0.0.1 localhost\n# note\n\n::1\n");
    fake.files.put("/etc/fstab", "/dev/sda1 / ext4 defaults 0 1\nproc /proc\n");
    fake.files.put("/proc/mounts", "/dev/sda1 / ext4 rw 0 0\nshort\n");
    fake.files.put("/etc/shadow", "root:x:1:2:3:4:5:6:\nweb\n");
    fake.files.put("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nweb:x\n");
    fake.files.put("/etc/group", "root:x:0:\n");
    fake.files.put("/etc/login.defs", "UID_MIN 1000\nSYS_UID_MAX abc\n");
    fake.files.put("/bin/true", "", 0755);
    fake.files.put("/bin/false", "", 0755);
    fake.users.users.push_back({"web", "x", "", "/home/web", "/bin/sh", 33, 33});
    fake.users.groups.push_back({"web", 33, {"root"}});
    fake.processes.programs = {"crontab",
                               "mount",
                               "umount",
                               "useradd",
                               "usermod",
                               "userdel",
                               "chage",
                               "groupadd",
                               "groupmod",
                               "groupdel",
                               "apt-get",
                               "apt-cache",
                               "apt-mark",
                               "dpkg",
                               "dpkg-query",
                               "dpkg-deb",
                               "debconf-set-selections",
                               "systemctl",
                               "sh",
                               "diff"};
    for (const char* start : {"/", "apt", "dpkg", "systemctl", "crontab", "diff", "sh"}) {
        fake.processes.answer(start, answer);
    }
}

std::optional<catalog::Catalog> catalog_of(const std::string& resources) {
    auto read = catalog::read_agent_json(
        R"({"name":"n","version":1,"environment":"production","catalog_format":2,"classes":[],)"
        R"("tags":[],"resources":[{"type":"Stage","title":"main","tags":["stage"],)"
        R"("kind":"compilable_type"},{"type":"Class","title":"main","tags":["class"],)"
        R"("kind":"unknown"})" +
        resources + R"(],"edges":[{"source":"Stage[main]","target":"Class[main]"}]})");
    if (!read) return std::nullopt;
    for (std::uint32_t i = 2; i < read->resources.size(); ++i) read->edges.push_back({1, i});
    return std::move(*read);
}

// Reports whether a catalog with only this resource is accepted. One refused resource refuses the
// whole catalog, so the fuzzer leaves such resources out to reach the run.
bool accepted(sys::FakeSystem& fake, const std::string& resource) {
    auto catalog = catalog_of(resource);
    if (!catalog) return false;
    base::MemorySink log;
    apply::Context context{.system = fake.system, .log = log};
    try {
        apply::RalCatalog::from(context, *catalog)->finalize();
        return true;
    } catch (const base::PuppetError& e) {
        if (e.message().empty()) std::abort();
        return false;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes in(data, size);
    sys::FakeSystem fake;
    const unsigned flags = in.next();
    const sys::Outcome answer{.status = static_cast<int>(in.next() % 3), .output = in.text(60)};
    const unsigned fails = in.next(), call = in.next(), times = in.next();
    prepare(fake, answer);
    std::string resources;
    for (unsigned n = 0; n < 12 && !in.empty(); ++n) {
        const std::string one = resource_of(in, n);
        if (accepted(fake, one)) resources += one;
    }
    auto catalog = catalog_of(resources);
    if (!catalog) return 0;
    if (fails % 4 == 0) fake.files.fail_calls(static_cast<int>(call), EIO, 1 + times % 9);

    base::MemorySink log;
    apply::ReportSink sink(log, fake.clock);
    apply::Context context{.system = fake.system, .log = sink};
    context.options.noop = flags & 1;
    context.options.show_diff = flags & 2;
    context.options.graph = flags & 4;
    context.options.clientbucketdir = "/bucket";
    context.options.statefile = "/state/state.yaml";
    context.options.graphdir = "/state/graphs";
    int left = (flags & 8) ? 40 : -1;
    if (left > 0) {
        context.stop = [&left] {
            return left > 0 && --left > 0 ? apply::StopRequest{} : apply::StopRequest{1, 15};
        };
    }
    try {
        auto ral = apply::RalCatalog::from(context, *catalog);
        ral->finalize();
        apply::RunSettings settings;
        settings.lastrunreport = "/state/report.yaml";
        settings.lastrunfile = "/state/summary.yaml";
        auto result = apply::run_catalog(context, sink, *ral, settings);
        if (!result.report || result.report->status.empty() ||
            !result.report->metric("resources")) {
            std::abort();
        }
    } catch (const base::PuppetError& e) {
        // The whole catalog was refused.
        if (e.message().empty()) std::abort();
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// The facts disks, partitions, mountpoints and filesystems. They are read from udev's database
// rather than by running blkid.
#include <fmt/format.h>
#include <map>
#include <optional>
#include <sys/statvfs.h>

#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

/// Returns the udev properties of a block device, for example from /run/udev/data/b8:1.
std::string udev_properties(Context& context, const std::string& sysfs) {
    std::string number = context.read_word(sysfs + "/dev");
    return number.empty() ? "" : context.read("/run/udev/data/b" + number);
}

/// Output of lsblk and blkid by device name, under the names of udev properties. These programs
/// read the devices directly and are run if udev has no data, as in most containers.
using DeviceProperties = std::map<std::string, std::string, std::less<>>;
DeviceProperties query_devices(Context& context) {
    DeviceProperties out;
    const auto run = [&](std::vector<std::string> argv) -> std::string {
        if (!context.system.processes.which(argv[0])) return {};
        auto outcome = context.system.processes.run(
            {.argv = std::move(argv), .timeout = std::chrono::seconds(10)});
        return outcome && outcome->ok() ? std::move(outcome->output) : std::string();
    };
    constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {" FSTYPE=\"", "ID_FS_TYPE"},
        {" TYPE=\"", "ID_FS_TYPE"},
        {" UUID=\"", "ID_FS_UUID"},
        {" LABEL=\"", "ID_FS_LABEL"},
        {" PARTUUID=\"", "ID_PART_ENTRY_UUID"},
        {" PARTLABEL=\"", "ID_PART_ENTRY_NAME"},
        {" PARTTYPE=\"", "ID_PART_ENTRY_TYPE"}};
    const auto value_of = [](std::string_view line, std::string_view key) -> std::string_view {
        const auto at = line.find(key);
        if (at == line.npos) return {};
        const auto rest = line.substr(at + key.size());
        return rest.substr(0, rest.find('"'));
    };
    const auto add = [&](std::string_view name, std::string_view line) {
        std::string text;
        for (const auto& [key, word] : kWords)
            if (const auto value = value_of(line, key); !value.empty())
                text += fmt::format("E:{}=\"{}\"\n", word, value);
        if (!text.empty()) out.try_emplace(std::string(name), std::move(text));
    };
    const std::string listed =
        run({"lsblk", "-p", "-P", "-o", "NAME,FSTYPE,UUID,LABEL,PARTUUID,PARTLABEL,PARTTYPE"});
    for (std::string_view line : split_lines(listed)) add(value_of(line, "NAME=\""), line);
    const std::string probed = run({"blkid"});
    for (std::string_view line : split_lines(probed))
        if (const auto colon = line.find(": "); colon != line.npos)
            add(line.substr(0, colon), line.substr(colon + 1));
    return out;
}
Value property(Context& context, std::string_view udev, std::string_view key) {
    return context.text_or_undef(shell_variable(udev, fmt::format("E:{}", key)));
}
/// Returns the first of the udev properties that exists, otherwise the first of the files that
/// exists, in the order that `lsblk` uses.
Value first_known(Context& context, std::string_view udev, const std::string& sysfs,
                  std::initializer_list<const char*> keys,
                  std::initializer_list<const char*> files) {
    for (const char* key : keys)
        if (const Value v = property(context, udev, key); !v.is_undef()) return v;
    for (const char* file : files)
        if (std::string text = context.read_word(sysfs + file); !text.empty())
            return context.text(text);
    return Value::undef();
}

void add_size(Context& context, Fields& fields, const std::string& sysfs) {
    std::string sectors = context.read_word(sysfs + "/size");
    if (sectors.empty()) return;
    auto bytes = static_cast<std::uint64_t>(to_integer(sectors)) * 512;
    fields.add("size", context.text(human_bytes(bytes)));
    fields.add("size_bytes", Value::integer(static_cast<std::int64_t>(bytes)));
}

using Mounted = std::map<std::string, std::string>;

void add_partition(Context& context, HashBuilder& into, const std::string& name,
                   const std::string& sysfs, const Mounted& mounted, const std::string& backing,
                   std::optional<DeviceProperties>& device_properties) {
    std::string udev = udev_properties(context, sysfs);
    if (udev.empty()) {
        if (!device_properties) device_properties = query_devices(context);
        if (const auto found = device_properties->find(name); found != device_properties->end())
            udev = found->second;
    }
    Fields fields(context);
    if (!backing.empty()) fields.add("backing_file", context.text(backing));
    fields.add("filesystem", property(context, udev, "ID_FS_TYPE"));
    fields.add("label", property(context, udev, "ID_FS_LABEL"));
    if (auto it = mounted.find(name); it != mounted.end()) {
        fields.add("mount", context.text(it->second));
    }
    fields.add("partlabel", property(context, udev, "ID_PART_ENTRY_NAME"));
    fields.add("parttype", property(context, udev, "ID_PART_ENTRY_TYPE"));
    fields.add("partuuid", property(context, udev, "ID_PART_ENTRY_UUID"));
    add_size(context, fields, sysfs);
    fields.add("uuid", property(context, udev, "ID_FS_UUID"));
    into.set(context.text(name), fields.build());
}

/// Returns the root device of the kernel command line, because /dev/root is not a device.
std::string root_device(Context& context) {
    const std::string cmdline = context.read("/proc/cmdline");
    const auto at = cmdline.find("root=");
    if (at == std::string::npos) return "/dev/root";
    std::string root = cmdline.substr(at + 5);
    root = root.substr(0, root.find_first_of(" \t\n"));
    const auto eq = root.find('=');
    if (eq == std::string::npos) return root;
    const std::string uuid = root.substr(eq + 1);
    for (const std::string& name : context.list("/sys/class/block")) {
        const std::string udev = udev_properties(context, "/sys/class/block/" + name);
        for (const char* key : {"E:ID_PART_ENTRY_UUID", "E:ID_FS_UUID"})
            if (shell_variable(udev, key) == uuid) return "/dev/" + name;
    }
    return root;
}

}  // namespace

Value resolve_disks(Context& context) {
    HashBuilder disks(context.arena);
    for (const std::string& name : context.list("/sys/block")) {
        std::string sysfs = "/sys/block/" + name;
        if (!context.system.files.exists(sysfs + "/device")) continue;
        std::string udev = udev_properties(context, sysfs);
        Fields fields(context);
        fields.add("model", context.text_or_undef(context.read_word(sysfs + "/device/model")));
        fields.add("serial", first_known(context, udev, sysfs,
                                         {"SCSI_IDENT_SERIAL", "ID_SCSI_SERIAL", "ID_SERIAL_SHORT",
                                          "ID_SERIAL"},
                                         {"/device/serial"}));
        add_size(context, fields, sysfs);
        std::string rotational = context.read_word(sysfs + "/queue/rotational");
        if (!rotational.empty()) {
            fields.add("type", Value::string(rotational == "0" ? "ssd" : "hdd"));
        }
        fields.add("vendor", context.text_or_undef(context.read_word(sysfs + "/device/vendor")));
        fields.add("wwn",
                   first_known(context, udev, sysfs, {"ID_WWN_WITH_EXTENSION", "ID_WWN"}, {}));
        disks.set(context.text(name), fields.build());
    }
    return disks.size() == 0 ? Value::undef() : disks.build();
}

Value resolve_partitions(Context& context) {
    Mounted mounted;
    for (const MountEntry& m : parse_mounts(context.read("/proc/self/mounts"))) {
        mounted.try_emplace(m.device, m.path);
    }
    std::optional<DeviceProperties> device_properties;
    HashBuilder all(context.arena);
    for (const std::string& device : context.list("/sys/block")) {
        std::string sysfs = "/sys/block/" + device;
        auto& files = context.system.files;
        if (files.exists(sysfs + "/device")) {
            for (const std::string& part : context.list(sysfs)) {
                if (!part.starts_with(device) || !files.exists(sysfs + "/" + part + "/partition")) {
                    continue;
                }
                add_partition(context, all, "/dev/" + part, sysfs + "/" + part, mounted, "",
                              device_properties);
            }
        } else if (files.exists(sysfs + "/dm")) {
            std::string name = context.read_word(sysfs + "/dm/name");
            add_partition(context, all, name.empty() ? "/dev/" + device : "/dev/mapper/" + name,
                          sysfs, mounted, "", device_properties);
        } else if (files.exists(sysfs + "/loop")) {
            add_partition(context, all, "/dev/" + device, sysfs, mounted,
                          context.read_word(sysfs + "/loop/backing_file"), device_properties);
        }
    }
    return all.size() == 0 ? Value::undef() : all.build();
}

Value resolve_mountpoints(Context& context) {
    HashBuilder all(context.arena);
    for (const MountEntry& m : parse_mounts(context.read("/proc/self/mounts"))) {
        struct statvfs st{};
        std::uint64_t size = 0, available = 0, used = 0;
        if (::statvfs(m.path.c_str(), &st) == 0) {
            size = st.f_blocks * st.f_frsize;
            available = st.f_bavail * st.f_frsize;
            used = (st.f_blocks - st.f_bfree) * st.f_frsize;
        }
        std::string device = m.device;
        if (device == "/dev/root") {
            device = root_device(context);
        }
        std::vector<Value> options;
        for (const std::string& o : m.options) options.push_back(context.text(o));
        auto count = [](std::uint64_t n) { return Value::integer(static_cast<std::int64_t>(n)); };
        all.set(context.text(m.path),
                Fields(context)
                    .add("available", context.text(human_bytes(available)))
                    .add("available_bytes", count(available))
                    .add("capacity", context.text(capacity(used, used + available)))
                    .add("device", context.text(device))
                    .add("filesystem", context.text(m.filesystem))
                    .add("options", value::make_array(context.arena, options))
                    .add("size", context.text(human_bytes(size)))
                    .add("size_bytes", count(size))
                    .add("used", context.text(human_bytes(used)))
                    .add("used_bytes", count(used))
                    .build());
    }
    return all.size() == 0 ? Value::undef() : all.build();
}

Value resolve_filesystems(Context& context) {
    return context.text_or_undef(parse_filesystems(context.read("/proc/filesystems")));
}

}  // namespace bunraku::facts

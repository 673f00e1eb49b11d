// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/outside.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/ruby_types.h"
#include "resources/apply/types/package/outside_package.h"

namespace bunraku::apply {

using base::PuppetError;

std::vector<std::string> OutsideRecord::all(std::string_view key) const {
    std::vector<std::string> out;
    for (const auto& [k, v] : pairs_)
        if (k == key) out.push_back(v);
    return out;
}

std::optional<std::string> OutsideRecord::get(std::string_view key) const {
    for (const auto& [k, v] : pairs_)
        if (k == key) return v;
    return std::nullopt;
}

std::string outside_line(std::string_view key, std::string_view value) {
    std::string out(key);
    out += '=';
    for (char c : value) {
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\\') {
            out += "\\\\";
        } else {
            out += c;
        }
    }
    BUNRAKU_ASSERT(out.size() > key.size() && out.find('\n', key.size()) == std::string::npos);
    return out + '\n';
}

std::vector<OutsideRecord> parse_outside(std::string_view text) {
    std::vector<OutsideRecord> out;
    for (std::string_view line : base::lines(text)) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (base::trim(line).empty() || line.starts_with('#')) continue;
        const std::size_t at = line.find('=');
        if (at == std::string_view::npos || at == 0) {
            throw base::plain_error(fmt::format("Invalid line '{}': expected \"key=value\"", line));
        }
        const std::string_view key = line.substr(0, at);
        std::string value;
        for (std::size_t i = at + 1; i < line.size(); ++i) {
            const bool escaped = line[i] == '\\' && i + 1 < line.size();
            if (escaped) ++i;
            value += escaped && line[i] == 'n' ? '\n' : line[i];
        }
        if (key == "name" || out.empty()) out.emplace_back();
        BUNRAKU_ASSERT(!key.empty() && !out.empty());
        out.back().add(std::string(key), std::move(value));
    }
    return out;
}

// Running a program.

namespace {

/// Returns the command line of a program. Pluginsync may have lost the file's mode. In that case
/// the #! line names the interpreter.
std::vector<std::string> argv_of(sys::FileSystem& files, const std::string& path) {
    if (files.access(path, 1)) return {path};
    std::string first;
    unwrap(files.read_chunks(path, [&](std::string_view chunk) {
        first += chunk;
        return first.size() < 256 && first.find('\n') == std::string::npos;
    }));
    first.resize(std::min(first.find('\n'), first.size()));
    if (!first.starts_with("#!")) {
        throw base::plain_error(
            fmt::format("The outside provider {} can neither be executed nor names a program that "
                        "does it",
                        path));
    }
    std::vector<std::string> argv = base::texts(base::words(std::string_view(first).substr(2)));
    argv.push_back(path);
    return argv;
}

}  // namespace

std::vector<OutsideRecord> OutsideProgram::run(std::string_view verb,
                                               const OutsideRecord& request) {
    Execute o{.fail_on_error = false, .combine = false};
    for (const auto& [key, value] : request.pairs()) o.input += outside_line(key, value);
    if (o.input.empty()) o.input = "\n";
    std::vector<std::string> argv = argv_of(context_.system.files, path_);
    argv.emplace_back(verb);
    const Executed done = execute(context_, argv, o);
    const auto failed = [&](std::string_view why) {
        throw base::plain_error(fmt::format("{} {}: {}", path_, verb, why));
    };
    std::vector<OutsideRecord> out;
    try {
        out = parse_outside(done.output);
    } catch (const PuppetError& e) {
        failed(e.message());
    }
    for (const OutsideRecord& r : out) {
        for (const auto& [key, value] : r.pairs()) {
            if (key == "error") throw base::plain_error(value);
            if (const auto level = base::level_from_name(key); level && *level != Level::Err) {
                context_.message(*level, value);
            }
        }
    }
    if (done.status != 0) {
        const std::string_view stderr_text = base::trim(done.errors);
        failed(stderr_text.empty() ? fmt::format("returned {}", done.status)
                                   : std::string(stderr_text));
    }
    return out;
}

const OutsideRecord& OutsideProgram::description() {
    if (!description_) {
        const auto self_description = run("describe", {});
        OutsideRecord all = self_description.empty() ? OutsideRecord() : self_description.front();
        if (const auto version = all.get("protocol"); version != "1") {
            throw base::plain_error(
                fmt::format("{} speaks protocol {}, not 1", path_, version.value_or("none")));
        }
        description_ = std::move(all);
    }
    BUNRAKU_ASSERT(description_->get("protocol") == "1");
    return *description_;
}

bool OutsideProgram::has_feature(std::string_view feature) {
    for (const std::string& line : description().all("features")) {
        const auto words = base::words(line);
        if (std::ranges::find(words, feature) != words.end()) return true;
    }
    return false;
}

std::vector<OutsideRecord> OutsideProgram::list() {
    std::vector<OutsideRecord> out = run("list", {});
    std::erase_if(out, [](const OutsideRecord& r) { return !r.get("name"); });
    return out;
}

OutsideRecord OutsideProgram::ask(std::string_view verb, const OutsideRecord& request) {
    auto answers = run(verb, request);
    const auto name = request.get("name");
    for (OutsideRecord& r : answers)
        if (r.get("name") == name) return std::move(r);
    return {};
}

// Finding programs.

OutsideProviders::~OutsideProviders() = default;

std::optional<std::string> OutsideProviders::path_of(std::string_view type,
                                                     std::string_view name) const {
    if (name.empty() || name.starts_with('.') || name.find('/') != std::string_view::npos) {
        return std::nullopt;
    }
    std::vector<std::string> folders = context_.options.provider_folders;
    if (context_.ruby_types) {
        for (const std::string& lib : context_.ruby_types->plugin_folders()) {
            folders.push_back(sys::join(lib, "bunraku/providers"));
        }
    }
    for (const std::string& folder : folders) {
        const std::string of_type = sys::join(folder, type);
        const auto names = context_.system.files.list(of_type);
        if (!names && !sys::is_absence(names.error().code)) throw_system(names.error());
        if (!names) continue;
        for (const std::string& file : *names) {
            if (file.substr(0, file.find('.')) != name) continue;
            std::string path = sys::join(of_type, file);
            if (context_.system.files.is_file(path)) return path;
        }
    }
    return std::nullopt;
}

OutsideProgram* OutsideProviders::find(std::string_view type, std::string_view name) {
    const std::string key = fmt::format("{}/{}", type, name);
    auto it = programs_.find(key);
    if (it == programs_.end()) {
        auto path = path_of(type, name);
        it = programs_
                 .emplace(key, path ? std::make_unique<OutsideProgram>(context_, *path) : nullptr)
                 .first;
    }
    return it->second.get();
}

const ProviderClass* OutsideProviders::class_of(std::string_view type, std::string_view name) {
    OutsideProgram* program = find(type, name);
    if (!program) return nullptr;
    const std::string key = fmt::format("{}/{}", type, name);
    if (const auto it = classes_.find(key); it != classes_.end()) return it->second;
    const OutsideRecord& self_description = program->description();
    auto* made = type == "package" ? outside_package_class(context_, *program)
                                   : context_.arena.make<ProviderClass>();
    made->name = context_.arena.copy(name);
    if (self_description.get("suitable").value_or("true") == "true") {
        made->suitable = [](Context&) { return true; };
    }
    std::string features;
    for (const std::string& line : self_description.all("features")) features += line + " ";
    made->features = context_.arena.copy(features);
    made->prefetches = program->has_feature("list");
    classes_.emplace(key, made);
    BUNRAKU_ASSERT(classes_.size() <= programs_.size());
    return made;
}

OutsideProviders& outside_providers(Context& context) {
    if (!context.outside) context.outside = std::make_shared<OutsideProviders>(context);
    return *context.outside;
}

// Resources.

OutsideRecord outside_request(const Resource& resource) {
    OutsideRecord out;
    out.add("name", resource.name());
    for (const Param* param : resource.params()) {
        const Param& p = *param;
        if (p.spec->kind == AttributeKind::Metaparameter || p.name() == "provider" ||
            p.name() == "name" || (p.is_property() && !p.has_should))
            continue;
        const Value v = p.is_property() ? resource.should(p) : p.value;
        if (v.is_array()) {
            for (const Value& one : v.as_array()) out.add(std::string(p.name()), plain(one));
        } else if (!v.is_undef()) {
            out.add(std::string(p.name()), plain(v));
        }
    }
    return out;
}

namespace {

class OutsideResource final : public Resource {
public:
    OutsideResource(Context& context, const TypeSpec& spec, OutsideProgram& program,
                    const ProviderClass& its_class)
        : Resource(context, spec), program_(program), class_{&its_class} {}
    std::span<const ProviderClass* const> provider_classes() const override { return class_; }

    Value default_for(const Attribute& a) override {
        if (a.name != "ensure" || !managed()) return Value::undef();
        return restype::match_value(a, "present") ? Value::string("present") : Value::undef();
    }

    void prefetch(std::span<Resource* const> all) override {
        std::map<std::string, OutsideRecord, std::less<>> found;
        for (OutsideRecord& r : program_.list()) {
            BUNRAKU_ASSERT(r.get("name").has_value());
            std::string name = *r.get("name");
            found.insert_or_assign(std::move(name), std::move(r));
        }
        for (Resource* r : all) {
            const auto it = found.find(r->name());
            static_cast<OutsideResource*>(r)->state_ =
                it == found.end() ? OutsideRecord() : it->second;
        }
    }

    Value retrieve_property(const Param& p) override {
        if (!state_) state_ = program_.ask("query", request({}));
        const auto values = state_->all(p.spec->name);
        if (values.empty()) {
            const bool is_there = p.spec->name == "ensure" && !state_->empty();
            return Value::string(is_there ? "present" : "absent");
        }
        if (!p.spec->array_matching_all) return context_.string(values.front());
        std::vector<Value> out;
        for (const std::string& v : values) out.push_back(context_.string(v));
        return Value::array(context_.arena.copy(out));
    }

    void sync(Param& p) override {
        program_.ask("change", request(p.spec->name));
        // When a service starts, `enable` is set in the same step, as in Puppet's type.
        Param* enable =
            type_name() == "service" && p.spec->name == "ensure" ? find("enable") : nullptr;
        if (!enable) return;
        state_.reset();
        if (!insync(*enable, retrieve_property(*enable))) program_.ask("change", request("enable"));
    }
    void flush() override { state_.reset(); }
    bool refreshable() const override { return has_feature("refreshable"); }
    void refresh() override { program_.ask("refresh", request({})); }

private:
    OutsideRecord request(std::string_view change) const {
        OutsideRecord out = outside_request(*this);
        if (!change.empty()) out.add("change", std::string(change));
        return out;
    }

    OutsideProgram& program_;
    const ProviderClass* class_[1];
    std::optional<OutsideRecord> state_;
};

}  // namespace

std::unique_ptr<Resource> outside_instead_of(const Resource& native, const Value& wanted) {
    if (!wanted.is_string() || native.type_name() == "package") return nullptr;
    const TypeSpec& spec = native.spec();
    for (const ProviderClass* c : native.provider_classes())
        if (c->name == wanted.as_string()) return nullptr;
    OutsideProviders& all = outside_providers(native.context());
    const ProviderClass* its_class = all.class_of(spec.name, wanted.as_string());
    if (!its_class) return nullptr;
    return std::make_unique<OutsideResource>(native.context(), spec,
                                             *all.find(spec.name, wanted.as_string()), *its_class);
}

}  // namespace bunraku::apply

#include "apply/parsed_file.h"

#include <algorithm>
#include <fmt/format.h>

#include "apply/ral_catalog.h"
#include "apply/types/file/bucket.h"
#include "base/text.h"

namespace bunraku::apply {

const Value* Record::find(std::string_view field) const {
    for (const auto& [n, v] : values) {
        if (n == field) return &v;
    }
    return nullptr;
}

std::string Record::get(std::string_view field) const {
    const Value* v = find(field);
    return v ? plain(*v) : std::string();
}

void Record::set(std::string_view field, const Value& v) {
    for (auto& [n, old] : values) {
        if (n == field) {
            old = v;
            return;
        }
    }
    values.emplace_back(std::string(field), v);
}

void ParsedResource::add_line(ParsedTarget& into, std::string_view line) {
    auto r = std::make_unique<Record>();
    r->text = line;
    into.records.push_back(std::move(r));
}

std::string ParsedResource::target() const {
    std::string t = plain(get("target"));
    return t.empty() || t == "undef" ? default_target() : t;
}

std::string ParsedResource::read_target(const std::string& target) const {
    auto text = context_.system.files.read(target);
    if (text) return std::move(*text);
    if (text.error().code != ENOENT && text.error().code != 0) throw_system(text.error());
    return {};
}

void ParsedResource::write_target(const std::string& target, const std::string& text) {
    sys::FileSystem& files = context_.system.files;
    sys::WriteOptions options{.mode = 0644};
    std::string place = target;
    if (const auto old = unwrap(files.look(target, true))) {
        options.mode = old->mode;
        // A link stays one.
        place = unwrap(files.real_path(target));
        if (context_.system.users.is_root()) {
            options.uid = old->uid;
            options.gid = old->gid;
        }
        if (!context_.options.clientbucketdir.empty()) {
            Bucket(context_, "puppet", context_.options.clientbucketdir).backup(target);
        }
    }
    unwrap(files.replace(place, text, options));
}

ParsedTarget& ParsedResource::load(const std::string& target) {
    auto& slot = context_.parsed_targets[std::string(type_name()) + '\0' + target];
    if (!slot) {
        auto made = std::make_shared<ParsedTarget>();
        made->path = target;
        parse(read_target(target), *made);
        slot = made;
    }
    return *static_cast<ParsedTarget*>(slot.get());
}

Record* ParsedResource::record() {
    for (const auto& r : load(target()).records) {
        if (r->entry && is_mine(*r)) return r.get();
    }
    return nullptr;
}

void ParsedResource::prefetch(std::span<Resource* const> all) {
    for (Resource* r : all) {
        auto* p = static_cast<ParsedResource*>(r);
        p->load(p->target());
    }
}

Value ParsedResource::default_for(const Attribute& a) {
    if (a.name == "ensure" && managed()) return Value::string("present");
    if (a.name == "target") {
        std::string t = default_target();
        return t.empty() ? Value::undef() : context_.string(t);
    }
    return Value::undef();
}

Value ParsedResource::retrieve_property(const Param& p) {
    const Record* r = record();
    const Value absent = Value::string("absent");
    if (p.spec->name == "ensure") return r ? Value::string("present") : absent;
    if (!r) return absent;
    if (p.spec->name == "target") return context_.string(target());
    const Value* v = r->find(p.spec->name);
    return v ? *v : absent;
}

void ParsedResource::fill(Record& record) const {
    for (const Param& p : params()) {
        if (!p.is_property() || !p.has_should) continue;
        std::string_view n = p.spec->name;
        if (n != "ensure" && n != "target") record.set(n, should(p));
    }
}

void ParsedResource::create_record() {
    auto r = std::make_unique<Record>();
    r->entry = true;
    r->name = name();
    fill(*r);
    load(target()).records.push_back(std::move(r));
    mark_changed();
}

void ParsedResource::remove_record() {
    auto& records = load(target()).records;
    std::erase_if(records, [&](const auto& r) { return r->entry && is_mine(*r); });
    mark_changed();
}

void ParsedResource::mark_changed() { dirty_ = true; }

void ParsedResource::sync(Param& p) {
    if (p.spec->name == "ensure") {
        if (is_absent(should(p))) {
            remove_record();
        } else {
            create_record();
        }
        return;
    }
    if (p.spec->name == "target") return;
    if (Record* r = record()) {
        r->set(p.spec->name, should(p));
        mark_changed();
    }
}

void ParsedResource::flush() {
    if (!dirty_) return;
    dirty_ = false;
    std::string where = target();
    constexpr std::string_view kSign = "# HEADER: ";
    std::string text;
    const std::string above = header(sys::local_text(context_.system.clock.now_ns()));
    for (const auto line : base::lines(above)) text += fmt::format("{}{}\n", kSign, line);
    for (const auto& r : load(where).records) {
        if (!r->entry && r->text.starts_with(kSign)) continue;
        text += r->entry ? render(*r) : r->text;
        text += '\n';
    }
    context_.message(Level::Debug,
                     fmt::format("Flushing {} provider target {}", type_name(), where));
    write_target(where, text);
}

std::vector<std::unique_ptr<Resource>> ParsedResource::instances() {
    std::vector<std::unique_ptr<Resource>> out;
    std::string where = default_target();
    if (where.empty()) return out;
    for (const auto& r : load(where).records) {
        if (!r->entry) continue;
        auto made = make_sibling();
        ResourceData d;
        d.title = title_of(*r);
        d.parameters = {{std::string(spec_.namevar()), context_.string(r->name)}};
        made->initialize(std::move(d));
        for (const Attribute& a : spec_.attributes) {
            if (a.kind == AttributeKind::Property) made->watch(a.name);
        }
        out.push_back(std::move(made));
    }
    return out;
}

}  // namespace bunraku::apply

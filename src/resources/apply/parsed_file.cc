// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/parsed_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/wording.h"
#include "core/value/text.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/types/file/bucket.h"

namespace bunraku::apply {

namespace {
const Value kAbsentValue = Value::string("absent");
const Value kPresentValue = Value::string("present");
}  // namespace

const Value* Record::find(std::string_view field) const {
    for (const auto& [n, v] : values) {
        if (n == field) return &v;
    }
    return nullptr;
}

Value Record::value(std::string_view field) const {
    const Value* v = find(field);
    return v ? *v : Value::undef();
}

std::string Record::get(std::string_view field) const {
    const Value* v = find(field);
    return v && !v->is_undef() && !apply::is_absent(*v) ? plain(*v) : std::string();
}

bool Record::is_absent(std::string_view field) const {
    const Value v = value(field);
    return v.is_undef() || apply::is_absent(v);
}

void Record::set(std::string_view field, const Value& v) {
    for (auto& [n, old] : values) {
        if (n == field) {
            old = v;
            return;
        }
    }
    values.emplace_back(std::string(field), v);
    BUNRAKU_ASSERT(find(field) == &values.back().second);
}

std::optional<regex::Match> line_match(std::string_view expression, std::string_view line) {
    auto re = regex::Regex::cached(expression);
    if (!re) throw base::plain_error(re.error().message);
    return (*re)->search(line);
}

RecordPtr ParsedResource::text_record(const std::string& line, std::string kind) {
    auto r = std::make_shared<Record>();
    r->text = line;
    r->kind = std::move(kind);
    return r;
}

RecordPtr ParsedResource::entry_record() {
    auto r = std::make_shared<Record>();
    r->entry = true;
    return r;
}

RecordPtr ParsedResource::captured(const regex::Match& m, const std::string& line,
                                   std::initializer_list<std::string_view> fields) const {
    RecordPtr r = entry_record();
    std::size_t i = 0;
    for (std::string_view field : fields) {
        BUNRAKU_ASSERT(i < fields.size());
        if (!m.took_part(++i)) continue;
        std::string_view text = m.group(line, i);
        r->set(field, text.empty() ? kAbsentValue : context_.string(text));
    }
    return r;
}

ParsedState& ParsedResource::state() const {
    auto& slot = context_.parsed_types[std::string(type_name())];
    if (!slot) slot = std::make_shared<ParsedState>();
    return *static_cast<ParsedState*>(slot.get());
}

void ParsedResource::initialize(ResourceData data) {
    Resource::initialize(std::move(data));
    for (const RecordPtr& r : state().records) {
        if (r->entry && r->get("name") == name()) {
            hash_ = r;
            return;
        }
    }
    hash_ = entry_record();
    hash_->set("ensure", kAbsentValue);
}

Value ParsedResource::default_for(const Attribute& a) {
    if (a.name == "ensure" && managed()) return kPresentValue;
    if (a.name == "target") {
        std::string t = default_target();
        return t.empty() ? Value::undef() : context_.string(t);
    }
    return Value::undef();
}

std::string ParsedResource::read_target(const std::string& target) const {
    auto text = context_.system.files.read_if_there(target);
    std::string why;
    if (!text) {
        why = text.error().message;
    } else if (*text && !codec::is_utf8(**text)) {
        // Puppet 8.11 fails in the same way, because it splits the text into lines as UTF-8.
        why = "invalid byte sequence in UTF-8";
    } else {
        return std::move(*text).value_or("");
    }
    std::string message =
        fmt::format("Puppet::Util::FileType::FileTypeFlat could not read {}: {}", target, why);
    context_.message(Level::Err, message);
    throw base::plain_error(message);
}

void ParsedResource::write_target(const std::string& target, const std::string& text) {
    overwrite(context_, target, text, new_mode());
}

void overwrite(Context& context, const std::string& target, const std::string& text,
               std::uint32_t mode) {
    sys::FileSystem& files = context.system.files;
    sys::WriteOptions options{.mode = mode};
    auto write = [&]() -> base::Result<void> {
        std::string destination = target;
        auto old = files.look(target, true);
        if (!old) return std::unexpected(old.error());
        if (*old) {
            options.mode = (*old)->mode;
            // Write through a link rather than replace it.
            auto real = files.real_path(target);
            if (!real) return std::unexpected(real.error());
            destination = *real;
            if (context.system.users.is_root()) {
                options.uid = (*old)->uid;
                options.gid = (*old)->gid;
            }
        }
        return files.replace(destination, text, options);
    };
    if (auto r = write(); !r) {
        std::string why = r.error().code == ENOENT || r.error().code == ENOTDIR
                              ? fmt::format("No such file or directory @ rb_sysopen - {}", target)
                              : r.error().message;
        std::string message =
            fmt::format("Puppet::Util::FileType::FileTypeFlat could not write {}: {}", target, why);
        context.message(Level::Err, message);
        throw base::plain_error(message);
    }
}

std::string ParsedResource::header() const {
    return fmt::format(
        "# HEADER: This file was autogenerated at {}\n"
        "# HEADER: by puppet.  While it can still be managed manually, it\n"
        "# HEADER: is definitely not recommended.\n",
        sys::local_text(context_.system.clock.now_ns()));
}

// Reading.

std::vector<std::string> ParsedResource::targets(std::span<Resource* const> resources) const {
    std::vector<std::string> out;
    auto add = [&](const std::string& t) {
        if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
    };
    add(default_target());
    for (const std::string& t : state().known) add(t);
    for (const Resource* r : resources) {
        if (Value v = r->should("target"); !v.is_undef()) add(plain(v));
    }
    return out;
}

std::vector<RecordPtr> ParsedResource::prefetch_target(const std::string& target) const {
    ParsedState& all = state();
    if (std::find(all.known.begin(), all.known.end(), target) == all.known.end()) {
        all.known.push_back(target);
    }
    const std::string text = target.empty() ? std::string() : read_target(target);
    std::vector<RecordPtr> out = parse(text, target);
    for (const RecordPtr& r : out) {
        r->on_disk = true;
        r->set("target", context_.string(target));
        r->set("ensure", kPresentValue);
    }
    after_reading(out);
    return out;
}

std::vector<RecordPtr> ParsedResource::parse(const std::string& text,
                                             const std::string& target) const {
    std::vector<RecordPtr> out;
    const auto lines = base::lines(text);
    std::size_t count = lines.size();
    while (count > 0 && lines[count - 1].empty()) --count;
    for (std::size_t i = 0; i < count; ++i) {
        std::string line(lines[i]);
        // Remove our own header, even in the middle of a line.
        if (std::size_t at = line.find("# HEADER"); at != std::string::npos) {
            if (at == 0) continue;
            line.resize(at);
        }
        RecordPtr r = parse_line(line);
        if (!r) {
            std::string shown;
            value::print_inspect(shown, Value::string(line));
            throw base::plain_error(
                fmt::format("Could not parse line {} (file: {}, line: {})", shown, target, i + 2));
        }
        out.push_back(std::move(r));
    }
    return out;
}

void ParsedResource::prefetch(std::span<Resource* const> all) {
    ParsedState& s = state();
    s.records.clear();
    s.backed_up.clear();
    std::vector<RecordPtr> records;
    for (const std::string& target : targets(all)) {
        for (RecordPtr& r : prefetch_target(target)) records.push_back(std::move(r));
    }
    BUNRAKU_ASSERT(s.records.empty());
    s.records = std::move(records);
    std::map<std::string, ParsedResource*, std::less<>> by_key;
    std::vector<ParsedResource*> matchers;
    for (Resource* r : all) {
        BUNRAKU_ASSERT(&r->spec() == &spec_);
        auto* p = static_cast<ParsedResource*>(r);
        by_key[p->key()] = p;
        matchers.push_back(p);
    }
    for (const RecordPtr& r : s.records) {
        BUNRAKU_ASSERT(r != nullptr);
        if (!r->entry) continue;
        auto it = by_key.find(key_of(*r));
        if (it != by_key.end() && it->second->takes(*r)) {
            it->second->hash_ = r;
        } else if (ParsedResource* found = match(*r, matchers)) {
            BUNRAKU_ASSERT(std::ranges::find(matchers, found) != matchers.end());
            std::erase(matchers, found);
            r->set("name", context_.string(found->name()));
            found->hash_ = r;
        }
    }
}

std::vector<std::unique_ptr<Resource>> ParsedResource::instances() {
    std::vector<std::unique_ptr<Resource>> out;
    for (const std::string& target : targets({})) {
        for (const RecordPtr& r : prefetch_target(target)) {
            if (!r->entry || (!r->kind.empty() && !takes(*r)) || key_of(*r).empty()) continue;
            auto made = make_sibling();
            ResourceData d;
            d.title = title_of(*r);
            d.parameters = {{spec_.namevar(), context_.string(r->get("name"))}};
            made->initialize(std::move(d));
            static_cast<ParsedResource*>(made.get())->hash_ = r;
            for (const Attribute& a : spec_.attributes) {
                if (a.kind == AttributeKind::Property) made->watch(a.name);
            }
            out.push_back(std::move(made));
        }
    }
    return out;
}

bool ParsedResource::exists() const {
    BUNRAKU_ASSERT(hash_ && hash_->entry);
    return !hash_->is_absent("ensure");
}

Value ParsedResource::retrieve_property(const Param& p) {
    std::string_view n = p.spec->name;
    if (n == "ensure") return exists() ? kPresentValue : kAbsentValue;
    Value v = hash_->value(n);
    if (!v.is_undef()) return v;
    return has_field(n) ? kAbsentValue : should(p);
}

// Changing.

void ParsedResource::mark_modified() {
    BUNRAKU_ASSERT(hash_ && hash_->entry);
    ParsedState& s = state();
    const Value wanted = should("target");
    const Value mine = hash_->value("target");
    if (!wanted.is_undef() && !same(wanted, mine)) s.modified.insert(plain(wanted));
    if (!mine.is_undef() && !is_absent(mine)) s.modified.insert(plain(mine));
}

void ParsedResource::create() {
    for (const Attribute& a : spec_.attributes) {
        if (a.kind != AttributeKind::Property) continue;
        if (Value v = should(a.name); !v.is_undef()) hash_->set(a.name, v);
    }
    mark_modified();
}

void ParsedResource::destroy() {
    mark_modified();
    hash_->set("ensure", kAbsentValue);
}

void ParsedResource::sync(Param& p) {
    if (p.spec->name == "ensure") {
        if (is_absent(should(p))) {
            destroy();
        } else {
            create();
        }
        return;
    }
    mark_modified();
    hash_->set(p.spec->name, should(p));
}

void ParsedResource::flush() {
    BUNRAKU_ASSERT(hash_ != nullptr);
    if (hash_->value("target").is_undef()) {
        const Value wanted = should("target");
        hash_->set("target", wanted.is_undef() ? context_.string(default_target()) : wanted);
        state().modified.insert(plain(hash_->value("target")));
    }
    for (const Attribute& a : spec_.attributes) {
        if (a.namevar && hash_->value(a.name).is_undef()) hash_->set(a.name, get(a.name));
    }
    flush_record();
}

void ParsedResource::flush_record() {
    ParsedState& s = state();
    if (!hash_->on_disk) {
        hash_->on_disk = true;
        BUNRAKU_ASSERT(std::ranges::find(s.records, hash_) == s.records.end());
        s.records.push_back(hash_);
        s.modified.insert(plain(hash_->value("target")));
    }
    while (!s.modified.empty()) {
        std::string target = *s.modified.begin();
        s.modified.erase(s.modified.begin());
        context_.message(Level::Debug,
                         fmt::format("Flushing {} provider target {}", type_name(), target));
        flush_target(target);
    }
}

void ParsedResource::backup_target(const std::string& target) {
    if (!backs_up() || !state().backed_up.insert(target).second) return;
    if (context_.options.clientbucketdir.empty() || !unwrap(context_.system.files.there(target)))
        return;
    Bucket(context_, "puppet", context_.options.clientbucketdir).backup(target);
}

void ParsedResource::flush_target(const std::string& target) {
    ParsedState& s = state();
    if (auto it = s.unreadable.find(target); keeps_read_errors() && it != s.unreadable.end()) {
        throw base::plain_error(fmt::format(
            "Failed to read {}'s records when prefetching them. Reason: {}", target, it->second));
    }
    backup_target(target);
    std::vector<RecordPtr> records;
    for (const RecordPtr& r : s.records) {
        if (r->get("target") != target) continue;
        if (!r->entry || !is_absent(r->value("ensure"))) records.push_back(r);
    }
    BUNRAKU_ASSERT(records.size() <= s.records.size());
    write_target(target, to_file(compose(records)));
}

std::string ParsedResource::compose(const std::vector<RecordPtr>& records) const {
    std::string text;
    for (const RecordPtr& r : records) {
        text += r->entry ? render(*r) : r->text;
        text += '\n';
    }
    BUNRAKU_ASSERT(text.empty() || text.ends_with('\n'));
    return text.empty() ? "\n" : text;
}

}  // namespace bunraku::apply

// SPDX-License-Identifier: Apache-2.0
// The type tidy: generates file resources that remove files by age, size or name.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fmt/format.h>
#include <map>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/value/text.h"
#include "resources/apply/ral_catalog.h"
#include "resources/apply/registry.h"
#include "resources/apply/types/file/file.h"

namespace bunraku::apply {

using base::PuppetError;
using sys::FileKind;

namespace {

class Tidy final : public Resource {
public:
    using Resource::Resource;
    bool can_list() const override { return true; }  // returns an empty list, as in Puppet

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name != "backup" && a.name != "path" && a.name != "recurse")
            Resource::validate_value(a, v);
    }

    bool set_whole(const Attribute& a, const Value& v) override {
        if (a.name != "matches") return false;
        std::string recurse = text("recurse");
        if (recurse.empty() || recurse == "0" || recurse == "false") {
            throw PuppetError("Tidy can't use matches with recurse 0, false, or undef");
        }
        param_slot(a).value =
            v.is_array() ? v : Value::array(context_.arena.copy(std::span<const Value>(&v, 1)));
        return true;
    }

    Value munge(const Attribute& a, const Value& v) override {
        // A relative path is relative to the working directory of the run, although Puppet's
        // documentation requires an absolute path.
        if (a.name == "path") return context_.string(sys::expand_path(plain(v)));
        if (a.name == "recurse") {
            std::string t = plain(v);
            if (t == "true" || t == "inf") return Value::boolean(true);
            if (t == "false") return Value::boolean(false);
            if (const auto depth = base::parse_integer<std::int64_t>(t); depth && *depth >= 0)
                return Value::integer(*depth);
            std::string shown;
            value::print_inspect(shown, v);
            munging_failed(a, v, "Invalid recurse value " + shown);
        }
        if (a.name == "max_files") return Value::integer(std::atoll(plain(v).c_str()));
        if (a.name == "age") return Value::integer(amount(v, 'd', "age", age_unit));
        if (a.name == "size") return Value::integer(amount(v, 'k', "size", size_unit));
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "type") return Value::string("atime");
        if (a.name == "max_files") return Value::integer(0);
        return Value::undef();
    }

    bool needs_ensure_retrieved() const override { return false; }
    bool depth_first() const override { return true; }
    bool generates() const override { return true; }

    std::vector<std::unique_ptr<Resource>> generate() override {
        std::vector<std::unique_ptr<Resource>> out;
        std::string top = text("path");
        if (!status_of(top)) return out;
        walked_ = std::make_shared<const std::string>(top);
        std::vector<std::string> paths;
        Value recurse = get("recurse");
        bool deep =
            recurse.is_integer() || (recurse.is(value::Kind::Boolean) && recurse.as_boolean());
        if (deep) {
            ContentSearch w;
            if (recurse.is_integer()) w.limit = recurse.as_integer();
            if (Value v = get("max_files"); v.is_integer()) w.max_files = v.as_integer();
            auto found = walk_files(context_, context_.system.files, top, w);
            for (const std::string& relative : found ? *found : std::vector<std::string>{}) {
                paths.push_back(relative == "." ? top : sys::join(top, relative));
            }
        } else {
            paths.push_back(top);
        }
        for (const std::string& path : paths) {
            if (matches(path)) out.push_back(make_file_resource(path));
        }
        for (const auto& r : out) debug(fmt::format("Tidying {}", r->ref()));
        std::sort(out.begin(), out.end(),
                  [](const auto& a, const auto& b) { return a->text("path") > b->text("path"); });
        if (!out.empty()) notice(fmt::format("Tidying {} files", out.size()));
        if (!flag("rmdirs")) return out;
        std::map<std::string, Resource*, std::less<>> by_path;
        for (const auto& r : out) by_path[r->text("path")] = r.get();
        for (auto it = by_path.rbegin(); it != by_path.rend(); ++it) {
            auto above = by_path.find(sys::directory_name(it->first));
            if (above != by_path.end() && above->second != it->second) {
                above->second->add_relation(Relation::Require, {"File", it->first});
            }
        }
        return out;
    }

private:
    std::shared_ptr<const std::string> walked_;

    static std::int64_t age_unit(char c) {
        switch (c) {
            case 's': return 1;
            case 'm': return 60;
            case 'h': return 3600;
            case 'd': return 86400;
            case 'w': return 7 * 86400;
            default: return 0;
        }
    }
    static std::int64_t size_unit(char c) {
        switch (c) {
            case 'b': return 1;
            case 'k': return 1LL << 10;
            case 'm': return 1LL << 20;
            case 'g': return 1LL << 30;
            case 't': return 1LL << 40;
            default: return 0;
        }
    }
    /// Parses an age or a size. `given` must be a string; like Puppet, rejects numbers.
    static std::int64_t amount(const Value& given, char unit, std::string_view what,
                               std::int64_t (*scale)(char)) {
        const std::string text = plain(given);
        const std::size_t rest = text.find_first_not_of("0123456789");
        const bool words = std::all_of(text.begin(), text.end(),
                                       [](unsigned char c) { return std::isalnum(c) || c == '_'; });
        if (!given.is_string() || rest == 0 || text.empty() || !words) {
            throw PuppetError(fmt::format("Invalid tidy {} {}", what, text));
        }
        std::string number = text.substr(0, rest);
        if (rest != std::string::npos) {
            unit = base::lower(text[rest]);
        } else if (number.size() > 1) {
            // /^([0-9]+)(\w)\w*$/ is tried first, and \w also matches a digit.
            unit = number.back();
            number.pop_back();
        }
        BUNRAKU_ASSERT(!number.empty());
        std::int64_t factor = scale(unit);
        if (factor == 0) throw PuppetError(fmt::format("Invalid {} unit '{}'", what, unit));
        return std::atoll(number.c_str()) * factor;
    }

    std::optional<sys::FileStatus> status_of(const std::string& path) {
        auto s = context_.system.files.lstat(path);
        if (s) return *s;
        const int code = s.error().code;
        if (code != EACCES && code != ENOENT) throw_system(s.error());
        if (code == EACCES) warning("Could not stat; permission denied");
        if (code == ENOENT) debug("File does not exist");
        return std::nullopt;
    }

    bool matches(const std::string& path) {
        if (catalog->find("File", path)) return false;
        auto s = status_of(path);
        if (!s) return false;
        if (s->kind == FileKind::Directory && !flag("rmdirs")) return false;
        if (Value patterns = get("matches"); patterns.is_array()) {
            bool any = false;
            for (const Value& p : patterns.as_array()) {
                any = any || fnmatch(plain(p), sys::base_name(path), true, true);
            }
            if (!any) return false;
        }
        bool tested = false;
        if (Value age = get("age"); age.is_integer()) {
            tested = true;
            std::string type = text("type");
            std::int64_t ns = type == "mtime"   ? s->mtime_ns
                              : type == "ctime" ? s->ctime_ns
                                                : s->atime_ns;
            std::int64_t now = context_.system.clock.now_ns() / 1'000'000'000;
            if (now - ns / 1'000'000'000 >= age.as_integer()) return true;
        }
        if (Value size = get("size"); size.is_integer()) {
            tested = true;
            if (static_cast<std::int64_t>(s->size) >= size.as_integer()) return true;
        }
        return !tested;
    }

    std::unique_ptr<Resource> make_file_resource(const std::string& path) {
        auto r = make_resource(context_, *restype::find_type("file"));
        r->catalog = catalog;
        ResourceData d;
        d.title = path;
        d.parameters = {{"path", context_.string(path)},
                        // The value of `backup` has no effect. Puppet only accepts a filebucket
                        // object, which a value cannot be (tidy.rb's initialize, 8.11).
                        {"backup", Value::boolean(false)},
                        {"ensure", Value::string("absent")},
                        {"force", Value::boolean(true)}};
        for (const Param* p : params()) {
            if (p->spec->kind == AttributeKind::Metaparameter && p->name() != "alias") {
                d.parameters.emplace_back(p->name(), p->value);
            }
        }
        r->initialize(std::move(d));
        BUNRAKU_ASSERT(walked_ && r->type_name() == "file");
        static_cast<File&>(*r).found_below(walked_);
        return r;
    }
};

}  // namespace

std::unique_ptr<Resource> make_tidy(Context& context, const TypeSpec& spec) {
    return std::make_unique<Tidy>(context, spec);
}

}  // namespace bunraku::apply

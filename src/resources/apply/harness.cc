// SPDX-License-Identifier: Apache-2.0
// Evaluates one resource: reads the current state, compares it with the desired state, changes it
// or reports what would change, and records events.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/redacted.h"
#include "core/codec/base64.h"
#include "core/sys/guarded_file_system.h"
#include "core/value/text.h"
#include "resources/apply/ruby_text.h"
#include "resources/apply/ruby_types.h"
#include "resources/apply/transaction.h"
#include "resources/apply/transaction_store.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

// Returns the value as Ruby interpolates it into a string.
std::string interpolated(const Value& v) {
    if (v.is_undef()) return {};
    if (!v.is_array() && !v.is_hash()) return plain(v);
    std::string out;
    value::print_inspect(out, v);
    return out;
}

// Reports whether Puppet's type stores this value as a symbol.
bool is_symbol(const Resource& resource, const Attribute& a, const Value& v) {
    if (!v.is_string()) return false;
    const auto* ruby = dynamic_cast<const RubyResource*>(&resource);
    if (ruby && ruby->is_symbol(a, v)) return true;
    const std::string_view type = resource.type_name();
    if (type == "exec" && a.name == "returns") return v.as_string() == "notrun";
    // Here every value of `ensure` is a symbol.
    if (a.name == "ensure" && (type == "file" || type == "mount")) return true;
    // Values of other properties that providers read from files are strings, even if they equal a
    // keyword of the type. Only these properties have symbols.
    constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"file", "target"},
                                                                        {"package", "mark"},
                                                                        {"selboolean", "value"},
                                                                        {"service", "enable"},
                                                                        {"vcsrepo", "skip_hooks"}};
    if (a.name != "ensure" &&
        std::ranges::find(kWords, std::pair(type, a.name)) == std::end(kWords))
        return false;
    // A value that matches a pattern, such as a version or a path, is a string.
    Attribute words = a;
    words.patterns = {};
    return !a.values.empty() && restype::match_value(words, v.as_string());
}

}  // namespace

Event Transaction::make_event(const Resource&, std::string name) const {
    Event e;
    e.name = std::move(name);
    e.time_ns = context_.system.clock.now_ns();
    return e;
}

ResourceStatus Transaction::evaluate_resource(Resource& resource) {
    BUNRAKU_ASSERT(context_.current == &resource);
    ResourceStatus status;
    status.resource = &resource;
    status.time_ns = context_.system.clock.now_ns();
    BUNRAKU_ASSERT(context_.own_secrets == nullptr);
    const SecretsScope secrets(context_, resource.secrets());
    std::int64_t begin = context_.system.clock.monotonic_ns();
    const sys::LinkFreeWalk walk(context_.system.files, resource.link_free_below());
    try {
        guarded([&] {
            perform_changes(resource, status);
            if (status.changed && !resource.noop()) {
                if (!resource.is_whit()) {
                    storage_.entry(resource.ref()).synced_ns = context_.system.clock.now_ns();
                }
                resource.flush();
            }
        });
    } catch (const PuppetError& e) {
        resource.err(fmt::format("Could not evaluate: {}", error_text(e)));
        Event event = make_event(resource, "resource_error");
        event.status = Event::Status::Failure;
        event.message = resource.redact(error_text(e));
        if (dynamic_cast<const BytesError*>(&e))
            event.message = codec::base64_encode(event.message);
        status.add(std::move(event));
        BUNRAKU_ASSERT(status.failed);
    }
    status.evaluation_time =
        static_cast<double>(context_.system.clock.monotonic_ns() - begin) / 1e9;
    return status;
}

void Transaction::perform_changes(Resource& resource, ResourceStatus& status) {
    if (resource.is_whit()) {
        storage_.entry(resource.to_s()).checked_ns = context_.system.clock.now_ns();
        return;
    }
    BUNRAKU_ASSERT(status.resource == &resource && status.events.empty());
    CurrentValues current;
    current.reserve(resource.params().size());
    resource.retrieve(current);

    std::vector<std::string> audited;
    if (const Param* p = resource.find("audit"); p && p->value.is_array()) {
        for (const Value& v : p->value.as_array()) audited.push_back(plain(v));
    }
    StateEntry& memory = storage_.entry(resource.ref());
    StateEntry history;
    if (!audited.empty()) history = memory;
    memory.checked_ns = context_.system.clock.now_ns();
    // The state file must not contain secrets, so changes of secret properties are not audited.
    std::erase_if(audited, [&](const std::string& name) {
        const Param* p = resource.find(name);
        return p && p->sensitive;
    });
    for (const std::string& name : audited) {
        const Attribute* a = resource.spec().find(name);
        if (resource.reveals(current.get(name))) continue;
        storage_.record(memory, name, current.get(name),
                        a && is_symbol(resource, *a, current.get(name)));
    }

    const StateEntry* past = audited.empty() ? nullptr : &history;
    std::set<std::string> synced;
    Param* ensure = resource.find("ensure");
    bool acted = false;
    if (ensure && ensure->is_property() && !resource.should(*ensure).is_undef()) {
        acted = sync_if_needed(resource, *ensure, current, past, audited, synced, status);
    }
    if (!acted) {
        if (resource.present(current)) {
            for (Param* p : resource.properties()) {
                sync_if_needed(resource, *p, current, past, audited, synced, status);
            }
        } else if (resource.debugging()) {
            resource.debug("Nothing to manage: no ensure and the resource doesn't exist");
        }
    }

    for (const std::string& name : audited) {
        Param* p = resource.find(name);
        if (!p || !p->is_property()) continue;
        Value before = storage_.recorded(history, name);
        Value now = current.get(name);
        if (history.find(name)) {
            if (same(before, now) || synced.contains(name)) continue;
            Event e = change_event(resource, *p, now, before);
            e.audited = true;
            e.status = Event::Status::Audit;
            e.message =
                fmt::format("audit change: previously recorded value {} has been changed to {}",
                            base::redacted_if(p->sensitive, resource.is_text(*p, before)),
                            base::redacted_if(p->sensitive, resource.is_text(*p, now)));
            send(resource, *p, e);
            status.add(std::move(e));
        } else {
            resource.log(Level::Notice,
                         fmt::format("audit change: newly-recorded value {}",
                                     base::redacted_if(p->sensitive, interpolated(now))),
                         p);
        }
    }
    store_results(resource, status);
}

Event Transaction::change_event(const Resource& r, const Param& p, const Value& current,
                                const Value& historical) const {
    BUNRAKU_ASSERT(p.is_property());
    Event e = make_event(r, r.event_name(p));
    e.property = p.spec;
    e.redacted = p.sensitive;
    e.invalidate_refreshes = r.invalidates_refreshes(p);
    Value should = r.should(p);
    Value hidden = Value::string(base::kRedacted);
    auto hide = [&](const Value& v) {
        return (p.sensitive && !v.is_undef()) || r.reveals(v) ? hidden : v;
    };
    e.previous = hide(current);
    e.desired = hide(r.reported_should(p, should));
    e.historical = hide(historical);
    return e;
}

void Transaction::send(const Resource& r, const Param& p, const Event& event) {
    BUNRAKU_ASSERT(event.status != Event::Status::None && event.property == p.spec);
    Level level = event.status == Event::Status::Failure ? Level::Err : r.loglevel();
    r.log(level, event.message, &p, Resource::Tags::OfResource);
}

// Reports whether the change is corrective, that is, the property no longer has the value that an
// earlier run set.
bool Transaction::corrects(Resource& resource, Param& p, const Value& is) {
    if (!context_.transactions || p.sensitive || !resource.knows_corrections(p)) return false;
    const auto old = context_.transactions->system_value(resource.ref(), p.spec->name);
    if (!old) return false;
    BUNRAKU_ASSERT(p.is_property() && !p.shared);
    const auto wanted = p.should;
    p.should = *old;
    bool in_step = true;
    try {
        in_step = guarded([&] { return resource.insync(p, is); });
    } catch (const Stopped&) {
        p.should = wanted;
        throw;
    } catch (const PuppetError& e) {
        resource.debug(fmt::format("Cannot compare {} with its previous value: {}", p.spec->name,
                                   error_text(e)));
    }
    p.should = wanted;
    return !in_step;
}

// Stores the values for comparison in the next run: the new value, or the previous one if the
// change failed.
void Transaction::store_results(Resource& resource, const ResourceStatus& status) {
    BUNRAKU_ASSERT(!resource.is_whit());
    if (!context_.transactions) return;
    for (Param* p : resource.properties()) {
        if (p->sensitive || !resource.knows_corrections(*p)) continue;
        if (std::ranges::any_of(p->should, [&](const Value& v) { return resource.reveals(v); }))
            continue;
        const auto symbol = [&](const Value& v) { return is_symbol(resource, *p->spec, v); };
        const Event* event = nullptr;
        for (const auto& e : status.events)
            if (e.property == p->spec && e.status != Event::Status::Audit) event = &e;
        if (!event || event->status == Event::Status::Success) {
            if (p->has_should)
                context_.transactions->store_values(resource.ref(), p->spec->name,
                                                    {p->should.begin(), p->should.end()}, symbol);
        } else if (context_.transactions->system_value(resource.ref(), p->spec->name)) {
            context_.transactions->retain(resource.ref(), p->spec->name);
        } else {
            context_.transactions->store_values(resource.ref(), p->spec->name, {event->previous},
                                                symbol);
        }
    }
}

// Synchronizes one property. Returns true if it was out of sync, whatever the result of the change.
bool Transaction::sync_if_needed(Resource& resource, Param& p, const CurrentValues& current,
                                 const StateEntry* history, const std::vector<std::string>& audited,
                                 std::set<std::string>& synced, ResourceStatus& status) {
    BUNRAKU_ASSERT(p.is_property() && !p.shared && status.resource == &resource);
    Value is = current.get(p.spec->name);
    bool audit = std::find(audited.begin(), audited.end(), p.spec->name) != audited.end();
    Value historical = history ? storage_.recorded(*history, p.spec->name) : Value::undef();
    if (!p.has_should) return false;

    Event event;
    try {
        if (guarded([&] { return resource.should(p).is_undef() || resource.insync(p, is); })) {
            return false;
        }
        event = change_event(resource, p, is, historical);
        if (audit) {
            event.audited = true;
            event.status = Event::Status::Audit;
        }
        std::string remark;
        if (audit && !historical.is_undef() && !same(historical, is)) {
            remark = fmt::format(" (previously recorded value was {})",
                                 base::redacted_if(p.sensitive, resource.is_text(p, historical)));
        }
        if (resource.noop()) {
            if (p.sensitive) {
                event.message = "current_value [redacted], should be [redacted] (noop)" + remark;
            } else {
                event.message =
                    resource.change_text(p, is, resource.should(p)) + " (noop)" + remark;
            }
            event.status = Event::Status::Noop;
        } else {
            ++context_.actions;
            guarded([&] { resource.sync(p); });
            event.message = (p.sensitive ? std::string("changed [redacted] to [redacted]")
                                         : resource.change_text(p, is, resource.should(p))) +
                            remark;
            event.status = Event::Status::Success;
        }
    } catch (const PuppetError& e) {
        if (!dynamic_cast<const Stopped*>(&e)) {
            context_.message(Level::Err, error_log_text(e));
        }
        event = change_event(resource, p, is, historical);
        event.status = Event::Status::Failure;
        event.message =
            fmt::format("change from {} to {} failed: {}",
                        base::redacted_if(p.sensitive, resource.is_text(p, is)),
                        base::redacted_if(p.sensitive, resource.should_text(p, resource.should(p))),
                        error_text(e));
    }
    BUNRAKU_ASSERT(event.property == p.spec);
    BUNRAKU_ASSERT(event.status == Event::Status::Noop || event.status == Event::Status::Success ||
                   event.status == Event::Status::Failure);
    event.message = resource.redact(std::move(event.message));
    if (corrects(resource, p, is)) {
        event.corrective_change = true;
        event.message += " (corrective)";
    }
    send(resource, p, event);
    synced.emplace(p.spec->name);
    status.add(std::move(event));
    BUNRAKU_ASSERT(status.out_of_sync);
    return true;
}

}  // namespace bunraku::apply

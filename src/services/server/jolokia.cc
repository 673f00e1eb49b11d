// SPDX-License-Identifier: Apache-2.0
// PuppetDB exposes its metrics as MBeans through Jolokia, which dashboards read (puppetboard,
// pypuppetdb, Telegraf). This file computes them from the counters on request.
#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"
#include "core/value/value.h"
#include "services/server/debug_status.h"
#include "services/server/json_answers.h"
#include "services/server/process_figures.h"
#include "services/server/status.h"

namespace bunraku::server {

using base::Counters;
using base::Histogram;
using http::Request;
using http::Response;
using value::Value;

namespace {

/// Formats a double like Java, always with a fraction.
std::string real(double v) {
    auto text = fmt::format("{}", v);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
}

/// Attributes with their values as JSON.
using Attributes = std::vector<std::pair<std::string, std::string>>;

struct MBean {
    std::string name;  ///< for example "puppetlabs.puppetdb.mq:name=global.depth"
    Attributes attributes;
};

Attributes count(double n) { return {{"Count", fmt::format("{}", static_cast<std::int64_t>(n))}}; }

Attributes value_of(std::string json) { return {{"Value", std::move(json)}}; }

Attributes rates(std::uint64_t n, const Histogram* h) {
    auto rate = [&](int minutes) { return real(h ? h->rate(minutes) : 0); };
    auto uptime = static_cast<double>(std::max<std::int64_t>(1, process_figures().uptime_ms)) / 1e3;
    return {{"RateUnit", "\"events/second\""}, {"OneMinuteRate", rate(1)},
            {"Count", fmt::format("{}", n)},   {"FifteenMinuteRate", rate(15)},
            {"FiveMinuteRate", rate(5)},       {"MeanRate", real(static_cast<double>(n) / uptime)}};
}

/// Returns the attributes of a histogram. `scale` converts recorded values to displayed ones.
Attributes distribution(const Histogram* h, double scale) {
    auto q = [&](double share) { return real(h ? h->quantile(share) * scale : 0); };
    return {{"75thPercentile", q(0.75)},
            {"Mean", real(h ? h->mean() * scale : 0)},
            {"StdDev", real(h ? h->deviation() * scale : 0)},
            {"98thPercentile", q(0.98)},
            {"95thPercentile", q(0.95)},
            {"99thPercentile", q(0.99)},
            {"Max", real(h ? static_cast<double>(h->max()) * scale : 0)},
            {"Count", fmt::format("{}", h ? h->count() : 0)},
            {"50thPercentile", q(0.5)},
            {"Min", real(h ? static_cast<double>(h->min()) * scale : 0)},
            {"999thPercentile", q(0.999)}};
}

/// Returns the attributes of a timer with rates, converted from microseconds to milliseconds.
Attributes timer(const Histogram* h) {
    auto out = distribution(h, 1e-3);
    for (auto& a : rates(h ? h->count() : 0, h))
        if (a.first != "Count") out.push_back(std::move(a));
    out.emplace_back("DurationUnit", "\"milliseconds\"");
    return out;
}

/// Returns the sum over all commands.
std::unique_ptr<Histogram> gathered(const Counters& c, std::string_view name) {
    auto out = std::make_unique<Histogram>();
    c.total(name, *out);
    return out;
}

/// Returns the value of a sample's label: a command's name or a version number.
std::string_view label_of(const Counters::Sample& s, std::string_view name) {
    for (const auto& [key, value] : s.labels)
        if (key == name) return value;
    return "";
}

struct OfCommand {
    double value = 0;
    std::unique_ptr<Histogram> histogram = std::make_unique<Histogram>();
};

/// Returns "bunraku_command(s)_<what>" of a command. Without a version, returns the sum over all
/// versions.
OfCommand of_command(const Counters& c, std::string_view what, std::string_view command,
                     std::string_view version = {}) {
    OfCommand out;
    c.visit([&](const Counters::Sample& s) {
        bool named = s.name.starts_with("bunraku_command") && s.name.ends_with(what) &&
                     s.name.size() - what.size() <= std::string_view("bunraku_commands_").size();
        if (!named || label_of(s, "command") != command) return;
        if (!version.empty() && label_of(s, "version") != version) return;
        out.value += s.value;
        if (s.histogram) out.histogram->absorb(*s.histogram);
    });
    return out;
}

/// Adds the metrics for each version of each command that was received.
void add_versions(std::vector<MBean>& out, const Counters& c) {
    std::vector<std::pair<std::string, std::string>> seen;
    c.visit([&](const Counters::Sample& s) {
        if (s.name != "bunraku_commands_received_total") return;
        seen.emplace_back(label_of(s, "command"), label_of(s, "version"));
    });
    for (const auto& [command, version] : seen) {
        if (version.empty() || version == "other") continue;
        auto add = [&](const char* item, Attributes a) {
            out.push_back(
                {fmt::format("puppetlabs.puppetdb.mq:name={}.{}.{}", command, version, item),
                 std::move(a)});
        };
        auto total = [&](const char* what) {
            return static_cast<std::uint64_t>(of_command(c, what, command, version).value);
        };
        auto processing = of_command(c, "processing_seconds", command, version);
        auto retries = distribution(nullptr, 1);
        retries.emplace_back("SnapshotSize", "0");
        add("seen", rates(total("received_total"), nullptr));
        add("processed", rates(processing.histogram->count(), processing.histogram.get()));
        add("fatal", rates(total("fatal_total"), nullptr));
        add("retried", rates(total("retried_total"), nullptr));
        add("discarded", rates(total("discarded_total"), nullptr));
        add("ignored", count(static_cast<double>(total("ignored_total"))));
        add("processing-time", timer(processing.histogram.get()));
        add("retry-counts", std::move(retries));
    }
}

void add_queue(std::vector<MBean>& out, const Counters& c) {
    auto add = [&](const std::string& name, Attributes a) {
        out.push_back({"puppetlabs.puppetdb.mq:name=global." + name, std::move(a)});
    };
    auto processing = gathered(c, "bunraku_command_processing_seconds");
    auto size = gathered(c, "bunraku_command_size_bytes");
    add("depth", count(c.value("bunraku_command_queue_depth")));
    add("concurrent-depth", count(c.value("bunraku_command_queue_in_flight")));
    add("awaiting-retry", count(c.value("bunraku_commands_awaiting_retry")));
    add("invalidated", count(c.value("bunraku_commands_superseded")));
    add("ignored", count(c.total("bunraku_commands_ignored_total")));
    auto total = [&](const char* counter) { return static_cast<std::uint64_t>(c.total(counter)); };
    add("seen", rates(total("bunraku_commands_received_total"), size.get()));
    add("processed", rates(processing->count(), processing.get()));
    add("fatal", rates(total("bunraku_commands_fatal_total"), nullptr));
    add("retried", rates(total("bunraku_commands_retried_total"), nullptr));
    add("discarded", rates(total("bunraku_commands_discarded_total"), nullptr));
    add("processing-time", timer(processing.get()));
    add("message-persistence-time",
        timer(gathered(c, "bunraku_command_persistence_seconds").get()));
    struct Plain {
        const char* name;
        const Histogram* histogram;
        double scale;
    };
    auto waited = gathered(c, "bunraku_command_queue_seconds");
    for (const auto& [name, histogram, scale] :
         {Plain{"size", size.get(), 1}, Plain{"retry-counts", nullptr, 1},
          Plain{"queue-time", waited.get(), 1e-3}}) {
        auto a = distribution(histogram, scale);
        a.emplace_back("SnapshotSize", fmt::format("{}", histogram ? histogram->count() : 0));
        add(name, std::move(a));
    }
    out.push_back({"puppetlabs.puppetdb.dlo:name=puppetlabs.puppetdb.dlo.global.messages",
                   count(c.value("bunraku_dead_letters"))});
    for (const auto& [name, command] : {std::pair{"replace-catalog-time", "replace catalog"},
                                        std::pair{"replace-facts-time", "replace facts"},
                                        std::pair{"store-report-time", "store report"}}) {
        out.push_back({std::string("puppetlabs.puppetdb.storage:name=") + name,
                       timer(of_command(c, "processing_seconds", command).histogram.get())});
    }
    auto catalogs = static_cast<double>(
        of_command(c, "processing_seconds", "replace catalog").histogram->count());
    double same = of_command(c, "unchanged_total", "replace catalog").value;
    out.push_back({"puppetlabs.puppetdb.storage:name=duplicate-pct",
                   value_of(real(catalogs > 0 ? same / catalogs : 0))});
    out.push_back({"puppetlabs.puppetdb.storage:name=duplicate-catalogs", count(same)});
    out.push_back({"puppetlabs.puppetdb.storage:name=new-catalogs", count(catalogs - same)});
}

void add_population(std::vector<MBean>& out, const Counters& c) {
    auto add = [&](const char* name, std::string json) {
        out.push_back({std::string("puppetlabs.puppetdb.population:name=") + name,
                       value_of(std::move(json))});
    };
    auto whole = [&](const char* counter) {
        return fmt::format("{}", static_cast<std::int64_t>(c.value(counter)));
    };
    double resources = c.value("bunraku_population_resources");
    double nodes = c.value("bunraku_population_active_nodes");
    double distinct = c.value("bunraku_population_distinct_resources");
    add("num-nodes", whole("bunraku_population_active_nodes"));
    add("num-active-nodes", whole("bunraku_population_active_nodes"));
    add("num-inactive-nodes", whole("bunraku_population_inactive_nodes"));
    add("num-resources", whole("bunraku_population_resources"));
    add("avg-resources-per-node", real(nodes > 0 ? resources / nodes : 0));
    add("pct-resource-dupes",
        real(resources > 0 && distinct > 0 ? std::max(0.0, (resources - distinct) / resources)
                                           : 0));
}

void add_http(std::vector<MBean>& out, const Counters& counters) {
    counters.visit([&](const Counters::Sample& s) {
        if (s.name == "bunraku_http_request_seconds" && s.histogram) {
            out.push_back(
                {fmt::format("puppetlabs.puppetdb.http:name={}.service-time", s.labels[0].second),
                 timer(s.histogram)});
        } else if (s.name == "bunraku_http_requests_total" && s.value > 0) {
            out.push_back({fmt::format("puppetlabs.puppetdb.http:name={}.{}", s.labels[0].second,
                                       s.labels[1].second),
                           rates(static_cast<std::uint64_t>(s.value), nullptr)});
        }
    });
}

/// Uses Java's names, which dashboards look for.
void add_process(std::vector<MBean>& out) {
    auto p = process_figures();
    auto usage = fmt::format("{{\"init\":0,\"committed\":{0},\"max\":{1},\"used\":{0}}}",
                             p.resident_bytes, p.virtual_bytes);
    out.push_back({"java.lang:type=Memory",
                   {{"HeapMemoryUsage", usage},
                    {"NonHeapMemoryUsage", "{\"init\":0,\"committed\":0,\"max\":-1,\"used\":0}"}}});
    out.push_back({"java.lang:type=Threading", {{"ThreadCount", fmt::format("{}", p.threads)}}});
    out.push_back({"java.lang:type=Runtime",
                   {{"Uptime", fmt::format("{}", p.uptime_ms)},
                    {"StartTime", fmt::format("{}", static_cast<std::int64_t>(p.start_time * 1e3))},
                    {"VmName", "\"Bunraku\""}}});
    out.push_back(
        {"java.lang:type=OperatingSystem",
         {{"ProcessCpuTime", fmt::format("{}", static_cast<std::int64_t>(p.cpu_seconds * 1e9))},
          {"OpenFileDescriptorCount", fmt::format("{}", p.open_files)}}});
}

/// Adds puppetserver's metrics, if this server compiles.
void add_puppetserver(std::vector<MBean>& out, const Counters& c) {
    const auto slots = c.value("bunraku_compile_slots");
    if (slots < 1) return;
    const auto add = [&](const std::string& name, Attributes a) {
        out.push_back({"puppetserver:name=puppetlabs.localhost." + name, std::move(a)});
    };
    const auto whole = [](double v) { return fmt::format("{}", static_cast<std::int64_t>(v)); };
    const auto free = c.value("bunraku_compile_slots_free");
    const auto* compiles = c.find_histogram(kCompileTime);
    add("compiler", timer(compiles));
    add("compiler.compile", timer(compiles));
    add("jruby.num-jrubies", value_of(whole(slots)));
    add("jruby.num-free-jrubies", value_of(whole(free)));
    add("jruby.request-count", count(c.value("bunraku_compiles_asked_total")));
    add("jruby.borrow-count", count(c.value("bunraku_compiles_returned_total") + slots - free));
    add("jruby.return-count", count(c.value("bunraku_compiles_returned_total")));
    add("jruby.borrow-timeout-count", count(c.value("bunraku_compiles_timed_out_total")));
    add("jruby.borrow-retry-count", count(0));
    add("jruby.queue-limit-hit-meter",
        rates(static_cast<std::uint64_t>(c.value("bunraku_compiles_refused_total")), nullptr));
    add("jruby.borrow-timer", timer(compiles));
    add("jruby.wait-timer", timer(c.find_histogram(kCompileWait)));
    add("jruby.lock-held-timer", timer(nullptr));
    add("jruby.lock-wait-timer", timer(nullptr));
    Histogram total;
    std::vector<std::pair<std::string, const Histogram*>> routes;
    c.visit([&](const Counters::Sample& s) {
        if (s.name != "bunraku_http_request_seconds" || !s.histogram) return;
        const auto route = puppetserver_route(s.labels[0].second);
        if (route.empty() || s.histogram->count() == 0) return;
        total.absorb(*s.histogram);
        routes.emplace_back(route, s.histogram);
    });
    add("http.total-requests", timer(&total));
    for (const auto& [route, histogram] : routes) {
        // In Java's ObjectName, names with an asterisk are quoted and the asterisk is escaped.
        const auto star = route.find('*');
        const auto name = [&](std::string_view what) {
            auto text = fmt::format("puppetlabs.localhost.http.{}-{}", route, what);
            if (star == std::string::npos) return "puppetserver:name=" + text;
            text.insert(text.find('*'), 1, '\\');
            return fmt::format("puppetserver:name=\"{}\"", text);
        };
        out.push_back({name("requests"), timer(histogram)});
        const auto share = 100 * static_cast<double>(histogram->count()) /
                           static_cast<double>(std::max<std::uint64_t>(1, total.count()));
        out.push_back({name("percentage"), value_of(real(share))});
    }
    const auto p = process_figures();
    for (const auto& [kind, used] :
         {std::pair{"heap", p.resident_bytes}, std::pair{"non-heap", std::uint64_t{0}},
          std::pair{"total", p.resident_bytes}}) {
        add(fmt::format("memory.{}.used", kind), value_of(fmt::format("{}", used)));
        add(fmt::format("memory.{}.committed", kind), value_of(fmt::format("{}", used)));
        add(fmt::format("memory.{}.init", kind), value_of("0"));
        add(fmt::format("memory.{}.max", kind), value_of("-1"));
    }
    add("num-cpus", value_of(fmt::format("{}", ::sysconf(_SC_NPROCESSORS_ONLN))));
    add("uptime", value_of(fmt::format("{}", p.uptime_ms)));
}

std::vector<MBean> all_beans(const Counters& counters) {
    std::vector<MBean> out;
    add_queue(out, counters);
    add_versions(out, counters);
    add_population(out, counters);
    add_http(out, counters);
    add_puppetserver(out, counters);
    add_process(out);
    return out;
}

bool matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
    while (t < text.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) &&
            pattern[p] != '*') {
            p++;
            t++;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            from = t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') p++;
    return p == pattern.size();
}

std::string object(const Attributes& attributes) {
    std::string out = "{";
    for (const auto& [name, json] : attributes) {
        if (out.size() > 1) out += ',';
        out += codec::json_string(name) + ':' + json;
    }
    return out + "}";
}

/// Returns a member of a flat JSON object, such as "used" of a memory usage.
std::optional<std::string> inner(const std::string& json, const std::string& name) {
    auto mark = codec::json_string(name) + ":";
    auto at = json.find(mark);
    if (at == std::string::npos) return std::nullopt;
    auto from = at + mark.size();
    return json.substr(from, json.find_first_of(",}", from) - from);
}

struct Ask {
    std::string type, mbean, path;
    std::vector<std::string> attributes;
    bool several = false;  ///< true if attributes were given as a list, even with one element
};

/// Reports whether a name is a pattern; escaped wildcards do not count.
bool is_pattern(std::string_view mbean) {
    for (std::size_t i = 0; i < mbean.size(); ++i)
        if ((mbean[i] == '*' || mbean[i] == '?') && (i == 0 || mbean[i - 1] != '\\')) return true;
    return false;
}

/// Reports whether a name has the form "domain:key=value,..", or "*" instead of the keys.
bool is_object_name(std::string_view mbean) {
    auto colon = mbean.find(':');
    if (colon == std::string_view::npos) return false;
    auto keys = mbean.substr(colon + 1);
    return keys == "*" || keys.find('=') != std::string_view::npos;
}

std::string request_json(const Ask& ask) {
    Attributes out;
    if (!ask.path.empty()) out.emplace_back("path", codec::json_string(ask.path));
    if (!ask.mbean.empty()) out.emplace_back("mbean", codec::json_string(ask.mbean));
    if (ask.attributes.size() == 1) {
        out.emplace_back("attribute", codec::json_string(ask.attributes[0]));
    } else if (!ask.attributes.empty()) {
        std::string list = "[";
        for (const auto& a : ask.attributes)
            list += (list.size() > 1 ? "," : "") + codec::json_string(a);
        out.emplace_back("attribute", list + "]");
    }
    out.emplace_back("type", codec::json_string(ask.type));
    return object(out);
}

std::string failure(const std::string& request, std::string_view type, const std::string& text,
                    int status) {
    return fmt::format("{{{}\"error_type\":{},\"error\":{},\"status\":{}}}",
                       request.empty() ? "" : "\"request\":" + request + ",",
                       codec::json_string(type),
                       codec::json_string(fmt::format("{} : {}", type, text)), status);
}

std::string success(const std::string& request, const std::string& json) {
    return fmt::format("{{\"request\":{},\"value\":{},\"timestamp\":{},\"status\":200}}", request,
                       json, std::time(nullptr));
}

/// Returns the requested attributes of a bean. Returns nullopt if the bean lacks one of them.
std::optional<std::string> select(const MBean& bean, const Ask& ask) {
    if (ask.attributes.empty()) return object(bean.attributes);
    Attributes found;
    for (const auto& name : ask.attributes) {
        auto it = std::find_if(bean.attributes.begin(), bean.attributes.end(),
                               [&](const auto& a) { return a.first == name; });
        if (it == bean.attributes.end()) return std::nullopt;
        found.push_back(*it);
    }
    if (ask.several || is_pattern(ask.mbean)) return object(found);
    if (ask.path.empty()) return found[0].second;
    return inner(found[0].second, ask.path).value_or("null");
}

/// Returns the first requested attribute that the bean does not have.
std::string missing_attribute(const MBean& bean, const Ask& ask) {
    for (const auto& name : ask.attributes) {
        bool there = std::any_of(bean.attributes.begin(), bean.attributes.end(),
                                 [&](const auto& a) { return a.first == name; });
        if (!there) return name;
    }
    return "";
}

std::string no_object_name() {
    return failure("", "java.lang.IllegalArgumentException",
                   "Invalid object name. Key properties cannot be empty", 400);
}

std::string read(const Ask& ask, const Counters& counters) {
    auto request = request_json(ask);
    if (!is_object_name(ask.mbean)) return no_object_name();
    auto beans = all_beans(counters);
    if (is_pattern(ask.mbean)) {
        std::string out = "{";
        for (const auto& bean : beans) {
            if (!matches(ask.mbean, bean.name)) continue;
            auto json = select(bean, ask);
            if (!json) continue;
            if (out.size() > 1) out += ',';
            out += codec::json_string(bean.name) + ':' + *json;
        }
        if (out.size() == 1) {
            return failure(
                request, "javax.management.InstanceNotFoundException",
                fmt::format("No MBean with pattern {} found for reading attributes", ask.mbean),
                404);
        }
        return success(request, out + "}");
    }
    for (const auto& bean : beans) {
        if (bean.name != ask.mbean) continue;
        if (auto json = select(bean, ask)) return success(request, *json);
        return failure(request, "javax.management.AttributeNotFoundException",
                       fmt::format("No such attribute: {}", missing_attribute(bean, ask)), 404);
    }
    return failure(request, "javax.management.InstanceNotFoundException", ask.mbean, 404);
}

std::string version(const Ask& ask) {
    return success(request_json(ask),
                   "{\"agent\":\"1.7.1\",\"protocol\":\"7.2\",\"config\":{},\"info\":{\"product\":"
                   "\"bunraku\",\"vendor\":\"Bunraku\"}}");
}

std::string listed_attributes(const MBean& bean) {
    std::string out = "{\"attr\":{";
    bool first = true;
    for (const auto& [name, json] : bean.attributes) {
        if (!first) out += ',';
        first = false;
        const char* type = json.starts_with('"')   ? "java.lang.String"
                           : json.starts_with('{') ? "javax.management.openmbean.CompositeData"
                           : json.find('.') != std::string::npos ? "double"
                                                                 : "long";
        out += fmt::format("{}:{{\"rw\":false,\"type\":\"{}\",\"desc\":\"\"}}",
                           codec::json_string(name), type);
    }
    return out + "},\"desc\":\"\"}";
}

/// Lists domains, their beans and attributes. A path ("domain" or "domain/keys") restricts the
/// list.
std::string list(const Ask& ask, const Counters& counters) {
    auto beans = all_beans(counters);
    std::stable_sort(beans.begin(), beans.end(), [](const MBean& a, const MBean& b) {
        return a.name.substr(0, a.name.find(':')) < b.name.substr(0, b.name.find(':'));
    });
    auto slash = ask.path.find('/');
    std::string only = ask.path.substr(0, slash);
    std::string keys = slash == std::string::npos ? "" : ask.path.substr(slash + 1);
    std::string out = "{", domain;
    for (const auto& bean : beans) {
        auto colon = bean.name.find(':');
        if (!only.empty() && bean.name.substr(0, colon) != only) continue;
        if (!keys.empty()) {
            if (bean.name.substr(colon + 1) != keys) continue;
            return success(request_json(ask), listed_attributes(bean));
        }
        if (!only.empty()) {
            if (out.size() > 1) out += ',';
        } else if (bean.name.substr(0, colon) != domain) {
            if (!domain.empty()) out += "},";
            domain = bean.name.substr(0, colon);
            out += codec::json_string(domain) + ":{";
        } else {
            out += ',';
        }
        out += codec::json_string(bean.name.substr(colon + 1)) + ':' + listed_attributes(bean);
    }
    if (!domain.empty()) out += '}';
    return success(request_json(ask), out + "}");
}

std::string search(const Ask& ask, const Counters& counters) {
    if (!is_object_name(ask.mbean)) return no_object_name();
    std::string out = "[";
    for (const auto& bean : all_beans(counters)) {
        if (!matches(ask.mbean, bean.name)) continue;
        if (out.size() > 1) out += ',';
        out += codec::json_string(bean.name);
    }
    return success(request_json(ask), out + "]");
}

std::string answer(const Ask& ask, const Counters& counters) {
    if (ask.type == "read") return read(ask, counters);
    if (ask.type == "list") return list(ask, counters);
    if (ask.type == "search") return search(ask, counters);
    if (ask.type == "version") return version(ask);
    // PuppetDB also disables writing and calling.
    if (ask.type == "write" || ask.type == "exec" || ask.type == "notification") {
        return failure(request_json(ask), "java.lang.SecurityException",
                       fmt::format("Command {} not allowed due to policy used", ask.type), 403);
    }
    if (ask.type.empty()) {
        return failure("", "java.lang.IllegalArgumentException", "No type given", 400);
    }
    return failure("", "java.lang.IllegalArgumentException",
                   fmt::format("No type with name '{}' exists", ask.type), 400);
}

Response respond(std::string json) {
    auto response = Response::json(200, std::move(json));
    response.headers.add("Cache-Control", "no-cache");
    return response;
}

std::string text_member(const Value& hash, std::string_view name) {
    const auto* v = hash.as_hash().find(name);
    return v && v->is_string() ? std::string(v->as_string()) : std::string();
}

Ask ask_of(const Value& v) {
    Ask ask;
    if (!v.is_hash()) return ask;
    ask.type = base::lower(text_member(v, "type"));
    ask.mbean = text_member(v, "mbean");
    ask.path = text_member(v, "path");
    if (const auto* a = v.as_hash().find("attribute")) {
        if (a->is_string()) ask.attributes.emplace_back(a->as_string());
        ask.several = a->is_array();
        if (a->is_array())
            for (const auto& one : a->as_array())
                if (one.is_string()) ask.attributes.emplace_back(one.as_string());
    }
    return ask;
}

/// Splits a path. Jolokia's escape "!/" represents a slash.
std::vector<std::string> split_path(std::string_view text) {
    std::vector<std::string> out(1);
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] == '!' && i + 1 < text.size()) {
            out.back() += text[++i];
        } else if (text[i] == '/') {
            out.emplace_back();
        } else {
            out.back() += text[i];
        }
    }
    return out;
}

Response get(Request& request, const Counters& counters) {
    auto rest = request.param("rest");
    Ask ask;
    auto slash = rest.find('/');
    ask.type = rest.substr(0, slash);
    if (ask.type.empty()) ask.type = "version";
    auto tail = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    if (ask.type == "read" || ask.type == "search") {
        // Names of routes contain slashes, so the longest matching bean name is used.
        auto beans = all_beans(counters);
        for (const auto& bean : beans) {
            if (bean.name.size() <= ask.mbean.size()) continue;
            if (tail == bean.name || (tail.starts_with(bean.name) && tail[bean.name.size()] == '/'))
                ask.mbean = bean.name;
        }
        if (!ask.mbean.empty()) {
            tail.remove_prefix(std::min(tail.size(), ask.mbean.size() + 1));
        }
        auto parts = split_path(tail);
        std::size_t next = 0;
        if (ask.mbean.empty()) ask.mbean = parts[next++];
        if (next < parts.size() && !parts[next].empty()) {
            for (std::string_view list = parts[next++]; !list.empty();) {
                auto comma = std::min(list.find(','), list.size());
                ask.attributes.emplace_back(list.substr(0, comma));
                list.remove_prefix(std::min(list.size(), comma + 1));
            }
            ask.several = ask.attributes.size() > 1;
        }
        if (next < parts.size()) ask.path = parts[next];
    } else if (ask.type == "list") {
        ask.path = tail;
    }
    return respond(answer(ask, counters));
}

Response post(Request& request, const Counters& counters) {
    base::Arena arena;
    auto data = value::parse_json(arena, request.body);
    if (!data || (!data->is_hash() && !data->is_array())) {
        return respond(
            failure("", "java.lang.IllegalArgumentException", "Invalid JSON request", 400));
    }
    if (data->is_hash()) return respond(answer(ask_of(*data), counters));
    std::string out = "[";
    for (const auto& one : data->as_array()) {
        if (out.size() > 1) out += ',';
        out += answer(ask_of(one), counters);
        // limits the response to a list of many "list" requests
        if (out.size() > (std::size_t{8} << 20)) break;
    }
    return respond(out + "]");
}

}  // namespace

void mount_jolokia(http::Router& router, const Counters& counters, http::Access access) {
    auto on_get = [&counters](Request& request) { return get(request, counters); };
    auto on_post = [&counters](Request& request) { return post(request, counters); };
    router.add("GET", "/metrics/v2", access, on_get);
    router.add("GET", "/metrics/v2/{rest*}", access, on_get);
    router.add("POST", "/metrics/v2", access, on_post);
    router.add("POST", "/metrics/v2/{rest*}", access, on_post);
}

}  // namespace bunraku::server

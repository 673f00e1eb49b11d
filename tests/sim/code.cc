// SPDX-License-Identifier: Apache-2.0
#include "sim/code.h"

#include <cstdlib>
#include <fmt/format.h>

#include "core/codec/digest.h"

namespace bunraku::sim {

namespace {

/// Calls the function with the words after `"title":"WORD` of each title in a catalog.
template <class F>
void each_title(std::string_view json, std::string_view word, F&& f) {
    const std::string begin = fmt::format("\"title\":\"{} ", word);
    for (std::size_t at = 0; (at = json.find(begin, at)) != json.npos;) {
        at += begin.size();
        f(json.substr(at, json.find('"', at) - at));
    }
}

int number(std::string_view text) { return std::atoi(std::string(text).c_str()); }

std::string app_pp(int v) {
    return fmt::format(R"(class app(Integer $level) {{
  notify {{ "class {0}": }}
  notify {{ "level ${{level}}": }}
  notify {{ epp('app/a.epp'): }}
  notify {{ "function ${{file('app/version').strip}}": }}
  notify {{ "node ${{trusted['certname']}} ${{facts['simulated_changes']}}": }}
  file {{ '/etc/app.conf': source => 'puppet:///modules/app/app.conf' }}
  case $facts['role'] {{
    'web': {{
      @@notify {{ "export ${{trusted['certname']}} ${{facts['simulated_changes']}}": tag => "web_${{facts['cell']}}" }}
    }}
    'db': {{ Notify <<| tag == "web_${{facts['cell']}}" |>> }}
    default: {{ }}
  }}
}}
)",
                       v);
}

/// The file repeats the version in many lines, so that a transfer and a write need several chunks.
constexpr int kLines = 2'000;

std::string whole_pp(int v) {
    return fmt::format(R"(class whole {{
  File {{ backup => 'puppet' }}
  $root = $facts['root']
  file {{ $root: ensure => directory, mode => '0755' }}
  file {{ "${{root}}/content":
    content => "content {0}\n${{trusted['certname']}} ${{facts['simulated_changes']}}\nend {0}\n",
    mode    => '0640',
  }}
  file {{ "${{root}}/template": content => epp('whole/a.epp') }}
  file {{ "${{root}}/source": source => 'puppet:///modules/whole/source' }}
  file {{ "${{root}}/tree":
    source  => 'puppet:///modules/whole/tree',
    recurse => true,
    purge   => true,
    force   => true,
  }}
  file {{ "${{root}}/link": ensure => link, target => "${{root}}/content" }}
  file {{ "${{root}}/gone": ensure => absent, force => true }}
}}
)",
                       v);
}

}  // namespace

Statement read_catalog(std::string_view json) {
    Statement out;
    for (const std::string_view word : {"class", "level", "template", "function"})
        each_title(json, word, [&](std::string_view v) { out.code.insert(number(v)); });
    each_title(json, "node", [&](std::string_view v) {
        const auto space = v.find(' ');
        out.node = v.substr(0, space);
        out.changes = number(v.substr(space + 1));
    });
    each_title(json, "export", [&](std::string_view v) {
        const auto space = v.find(' ');
        out.others[std::string(v.substr(0, space))] = number(v.substr(space + 1));
    });
    return out;
}

std::string plugin_of(int version) { return fmt::format("plugin {}\n", version); }

std::set<int> versions_of_digests(std::string_view json, int newest) {
    static std::map<std::string, int, std::less<>> known;
    static int last = 0;
    for (; last < newest; ++last) {
        const int v = last + 1;
        for (const auto& content : {plugin_of(v), fmt::format("{}\n", v), stamped(v, "source"),
                                    stamped(v, "a"), stamped(v, "b")})
            known[codec::hex_digest(codec::DigestKind::Sha256, content)] = v;
    }
    std::set<int> out;
    constexpr std::string_view kKind = "{sha256}";
    for (std::size_t at = 0; (at = json.find(kKind, at)) != json.npos;) {
        at += kKind.size();
        const auto it = known.find(json.substr(at, 64));
        if (it != known.end()) out.insert(it->second);
    }
    return out;
}

std::string stamped(int version, std::string_view what) {
    std::string out = fmt::format("{} {}\n", what, version);
    for (int i = 0; i < kLines; ++i) out += fmt::format("{}:{}\n", i, version);
    return out + fmt::format("end {}\n", version);
}

std::optional<int> stamp_of(std::string_view content, std::string_view what) {
    if (!content.starts_with(what)) return std::nullopt;
    const int version = number(content.substr(what.size()));
    if (content != stamped(version, what)) return std::nullopt;
    return version;
}

std::vector<std::pair<std::string, std::string>> files_of(int v) {
    return {{"environment.conf", "environment_timeout = 0\n"},
            {"hiera.yaml",
             "version: 5\nhierarchy:\n  - name: all\n    paths: ['%{facts.role}.yaml', "
             "'common.yaml']\n"},
            {"data/common.yaml", fmt::format("app::level: {}\nunread: 1\n", v)},
            {"modules/app/files/app.conf", fmt::format("{}\n", v)},
            {"modules/app/files/version", fmt::format("{}\n", v)},
            {"modules/app/templates/a.epp", fmt::format("template {}", v)},
            {"modules/app/manifests/init.pp", app_pp(v)},
            {fmt::format("modules/app/lib/{}", kPlugin), plugin_of(v)},
            {"modules/whole/files/source", stamped(v, "source")},
            {"modules/whole/files/tree/a", stamped(v, "a")},
            {"modules/whole/files/tree/below/b", stamped(v, "b")},
            {"modules/whole/templates/a.epp", stamped(v, "template")},
            {"modules/whole/manifests/init.pp", whole_pp(v)},
            {"manifests/site.pp",
             "if $facts['root'] {\n  include whole\n} else {\n  include app\n}\n"}};
}

}  // namespace bunraku::sim

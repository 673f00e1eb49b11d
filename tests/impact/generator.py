"""Generates a control repository with a history. The same seed gives the same commits.

    generator.py FOLDER --seed N --commits N --nodes N

FOLDER/control is the repository (tags c0, c1, ..), FOLDER/facts has the facts of its nodes.
"""
import argparse
import json
import os
import random
import subprocess

ROLES = ["web", "db", "cache", "mon"]
FAMILIES = ["Debian", "RedHat"]
COMPONENTS = ["ntp", "motd", "ssh", "log", "app", "disk"]


class Site:
    def __init__(self, folder, seed, nodes):
        self.random = random.Random(seed)
        self.control = os.path.join(folder, "control")
        self.facts = os.path.join(folder, "facts")
        self.nodes = [f"{ROLES[i % len(ROLES)]}{i}.example.org" for i in range(nodes)]
        self.files = {}
        self.number = 0
        os.makedirs(self.control)
        os.makedirs(self.facts)
        for i, node in enumerate(self.nodes):
            name = node.split(".")[0]
            facts = {
                "role": ROLES[i % len(ROLES)],
                "os": {"family": FAMILIES[i // len(ROLES) % 2], "name": "x", "release": {"major": str(10 + i % 3)}},
                "networking": {"hostname": name, "fqdn": node, "ip": f"10.0.{i // 250}.{i % 250 + 1}"},
                "memory": {"total": 1024 * (1 + i % 4)},
            }
            with open(os.path.join(self.facts, node + ".json"), "w") as out:
                json.dump(facts, out)

    def fresh(self):
        self.number += 1
        return self.number

    # -- texts

    def data_file(self, path):
        return self.files.setdefault(path, {})

    def data_paths(self):
        return sorted(p for p in self.files if p.startswith("data/"))

    def class_text(self, c):
        """A component: parameters from Hiera, a template, a file behind source, a condition on a fact."""
        lines = [f"# component {c['name']}: {c['comment']}", f"class {c['name']} ("]
        lines += [f"  String $p{i} = 'default {i}'," for i in range(c["parameters"])]
        lines += [") {"]
        if c["broken"]:
            lines.append(f"  fail('{c['name']} is broken')")
        lines.append(f"  package {{ '{c['name']}': ensure => '{c['ensure']}' }}")
        lines.append(f"  file {{ '/etc/{c['name']}.conf':")
        lines.append(f"    content => epp('{c['name']}/conf.epp', {{ 'values' => [{', '.join(f'$p{i}' for i in range(c['parameters']))}] }}),")
        lines.append(f"    require => Package['{c['name']}'],")
        lines.append("  }")
        lines.append(f"  file {{ '/opt/{c['name']}': source => 'puppet:///modules/{c['name']}/static' }}")
        if c["fact"]:
            lines.append(f"  if $facts['os']['family'] == '{c['fact']}' {{ notify {{ '{c['name']} on {c['fact']}': }} }}")
        if c["lookup"]:
            lines.append(f"  notify {{ \"{c['name']} looked up ${{lookup('shared::{c['lookup']}', {{ 'default_value' => 'nothing' }})}}\": }}")
        if c["node"]:
            lines.append(f"  notify {{ \"{c['name']} of ${{trusted['certname']}} at ${{facts['networking']['ip']}}\": }}")
        if c["function"]:
            lines.append(f"  notify {{ {c['name']}::shout('{c['name']}'): }}")
        lines.append("}")
        return "\n".join(lines) + "\n"

    def write(self, path, text):
        path = os.path.join(self.control, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(text)

    def write_all(self):
        git(self.control, "rm", "-rqf", "--ignore-unmatch", ".")
        self.write("environment.conf", "modulepath = site\n")
        levels = "".join(f'  - {{ name: "{name}", path: "{path}" }}\n' for name, path in self.levels)
        self.write("hiera.yaml", "version: 5\ndefaults: { datadir: data, data_hash: yaml_data }\nhierarchy:\n" + levels)
        for path in self.data_paths():
            text = f"---\n# {path} {self.comments.get(path, 0)}\n"
            for key, value in self.files[path].items():
                if isinstance(value, list):
                    text += f"{key}:\n" + "".join(f"  - {json.dumps(v)}\n" for v in value)
                else:
                    text += f"{key}: {json.dumps(value)}\n"
            self.write(path, text)
        for c in self.components.values():
            base = f"site/{c['name']}"
            self.write(f"{base}/manifests/init.pp", self.class_text(c))
            self.write(f"{base}/templates/conf.epp", f"<%- | Array $values | -%>\n# {c['template']}\n<% $values.each |$v| {{ -%>\n<%= $v %>\n<% }} -%>\n")
            if not c["missing"]:
                self.write(f"{base}/files/static", f"static {c['static']}\n")
            self.write(f"{base}/files/unused", f"unused {c['unused']}\n")
            if c["function"]:
                self.write(f"{base}/functions/shout.pp", f"function {c['name']}::shout($x) {{ \"${{x}} {c['function']}\" }}\n")
        for role, r in self.roles.items():
            text = f"# role {role} {r['comment']}\nclass role::{role} {{\n"
            text += "".join(f"  include {name}\n" for name in r["includes"])
            if r["defaults"]:
                text += f"  File {{ mode => '{r['defaults']}' }}\n  file {{ '/role/{role}': ensure => directory }}\n"
            self.write(f"site/role/manifests/{role}.pp", text + "}\n")
        text = f"# {self.comments.get('site', 0)}\n"
        for n in self.special:
            text += f"node '{n}' {{ include role::{ROLES[0]} }}\n"
        self.write("manifests/site.pp", text + "node default { include \"role::${facts['role']}\" }\n")

    # -- the initial state and its possible changes

    def begin(self):
        r = self.random
        self.comments, self.special = {}, []
        self.levels = [("node", "nodes/%{trusted.certname}.yaml"), ("role", "roles/%{facts.role}.yaml"), ("common", "common.yaml")]
        self.components = {}
        for name in COMPONENTS:
            self.add_component(name)
        self.roles = {}
        for role in ROLES:
            self.roles[role] = {"includes": sorted(r.sample(COMPONENTS, 3)), "comment": 0, "defaults": ""}
        common = self.data_file("data/common.yaml")
        for c in self.components.values():
            common[f"{c['name']}::p0"] = f"common {self.fresh()}"
        for role in ROLES:
            self.data_file(f"data/roles/{role}.yaml")[f"{r.choice(COMPONENTS)}::p1"] = f"role {self.fresh()}"
        node = r.choice(self.nodes)
        self.data_file(f"data/nodes/{node}.yaml")[f"{r.choice(COMPONENTS)}::p0"] = f"node {self.fresh()}"
        common["unused::key"] = "1"

    def add_component(self, name):
        r = self.random
        self.components[name] = {
            "name": name, "comment": 0, "parameters": r.randint(2, 4), "broken": False, "ensure": "1.0",
            "fact": r.choice(["", *FAMILIES]), "lookup": r.choice(["", "a", "b"]), "node": r.random() < 0.3,
            "function": r.choice([0, 1]), "template": 0, "static": 0, "unused": 0, "missing": False,
        }

    def component(self):
        return self.components[self.random.choice(sorted(self.components))]

    def mutate(self):
        r = self.random
        what = r.choice([
            "key", "key", "key", "role key", "node key", "new key", "drop key", "shared", "unused key", "comment",
            "data comment", "ensure", "template", "static", "unused file", "fact", "include", "exclude", "new component",
            "break", "mend", "level", "defaults", "function", "special", "missing", "parameter", "new file",
        ])
        common = self.data_file("data/common.yaml")
        c = self.component()
        if what == "key":
            key = r.choice([k for k in common if k != "unused::key"] or ["x"])
            common[key] = f"common {self.fresh()}"
        elif what == "role key":
            self.data_file(f"data/roles/{r.choice(ROLES)}.yaml")[f"{c['name']}::p{r.randint(0, 2)}"] = f"role {self.fresh()}"
        elif what == "node key":
            self.data_file(f"data/nodes/{r.choice(self.nodes)}.yaml")[f"{c['name']}::p{r.randint(0, 2)}"] = f"node {self.fresh()}"
        elif what == "new key":
            common[f"{c['name']}::p{r.randint(0, 3)}"] = f"common {self.fresh()}"
        elif what == "drop key":
            data = self.files[r.choice(self.data_paths())]
            if data:
                del data[r.choice(sorted(data))]
        elif what == "shared":
            common[f"shared::{r.choice('ab')}"] = r.choice([f"shared {self.fresh()}", "%{facts.os.family}"])
        elif what == "unused key":
            common["unused::key"] = str(self.fresh())
        elif what == "comment":
            c["comment"] = self.fresh()
        elif what == "data comment":
            self.comments[r.choice(self.data_paths())] = self.fresh()
        elif what == "ensure":
            c["ensure"] = f"1.{self.fresh()}"
        elif what in ("template", "static"):
            c[what] = self.fresh()
        elif what == "unused file":
            c["unused"] = self.fresh()
        elif what == "fact":
            c["fact"] = r.choice(["", *FAMILIES])
        elif what == "include":
            role = self.roles[r.choice(ROLES)]
            role["includes"] = sorted({*role["includes"], c["name"]})
        elif what == "exclude":
            role = self.roles[r.choice(ROLES)]
            if len(role["includes"]) > 1:
                role["includes"].remove(r.choice(role["includes"]))
        elif what == "new component":
            name = f"extra{self.fresh()}"
            self.add_component(name)
            role = self.roles[r.choice(ROLES)]
            role["includes"] = sorted({*role["includes"], name})
        elif what == "break":
            c["broken"] = True
        elif what == "mend":
            for each in self.components.values():
                each["broken"] = False
                each["missing"] = False
        elif what == "level":
            os_level = ("os", "os/%{facts.os.family}.yaml")
            if os_level in self.levels:
                self.levels.remove(os_level)
            else:
                self.levels.insert(1, os_level)
                self.data_file(f"data/os/{r.choice(FAMILIES)}.yaml")[f"{c['name']}::p0"] = f"os {self.fresh()}"
        elif what == "defaults":
            self.roles[r.choice(ROLES)]["defaults"] = r.choice(["", "0600", "0644"])
        elif what == "function":
            c["function"] = self.fresh() if r.random() < 0.8 else 0
        elif what == "special":
            node = r.choice(self.nodes)
            self.special = [n for n in self.special if n != node] + ([] if node in self.special else [node])
        elif what == "missing":
            c["missing"] = not c["missing"]
        elif what == "parameter":
            c["parameters"] = max(1, c["parameters"] + r.choice([-1, 1]))
        elif what == "new file":
            self.write(f"site/{c['name']}/manifests/x{self.fresh()}.pp", f"class {c['name']}::x{self.number} {{ }}\n")
        return what


def git(control, *args):
    env = dict(os.environ, GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@example.org",
               GIT_COMMITTER_NAME="t", GIT_COMMITTER_EMAIL="t@example.org", GIT_AUTHOR_DATE="2026-01-01T00:00:00Z",
               GIT_COMMITTER_DATE="2026-01-01T00:00:00Z", HOME=control)
    return subprocess.run(["git", "-C", control, *args], check=True, env=env, capture_output=True, text=True).stdout


def generate(folder, seed, commits, nodes):
    """Returns a description of each commit, by its number."""
    site = Site(folder, seed, nodes)
    git(site.control, "init", "--quiet", "-b", "main")
    site.begin()
    told = []
    for number in range(commits + 1):
        what = [] if number == 0 else [site.mutate() for _ in range(site.random.choice([1, 1, 2, 3]))]
        site.write_all()
        git(site.control, "add", "-A")
        git(site.control, "commit", "--quiet", "--allow-empty", "-m", ", ".join(what) or "the beginning")
        git(site.control, "tag", f"c{number}")
        told.append(what)
    return told


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commits", type=int, default=10)
    parser.add_argument("--nodes", type=int, default=16)
    a = parser.parse_args()
    generate(a.folder, a.seed, a.commits, a.nodes)

#!/usr/bin/env python3
"""Generates a control repository and the facts of its fleet.

    fleet.py FOLDER [--nodes N] [--resources N]

FOLDER/control is a git repository, FOLDER/facts has one file per node. There are fifty roles with
an equal number of nodes each. A node has about the requested number of resources, most of them from
profiles that all roles include.
"""
import argparse
import json
import os
import subprocess


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--resources", type=int, default=500)
    a = parser.parse_args()
    control, facts = a.folder + "/control", a.folder + "/facts"
    os.makedirs(facts)
    roles, parts = min(50, a.nodes), 25
    each = max(1, a.resources // parts // 2)

    def write(path, text):
        path = f"{control}/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(text)

    write("environment.conf", "modulepath = site\n")
    write("hiera.yaml", """version: 5
defaults: { datadir: data, data_hash: yaml_data }
hierarchy:
  - { name: node, path: "nodes/%{trusted.certname}.yaml" }
  - { name: role, path: "role/%{facts.role}.yaml" }
  - { name: os, path: "os/%{facts.os.family}.yaml" }
  - { name: common, path: common.yaml }
""")
    write("manifests/site.pp", 'node default { include "role::${facts[\'role\']}" }\n')
    common = ["---", "unused: 1", "base::servers: [a, b, c]"]
    for p in range(parts):
        common.append(f"part{p:02}::text: text of {p}")
        # A package, a service, files, and the instances of a define.
        write(f"site/part{p:02}/manifests/init.pp", f"""# Part {p}.
class part{p:02} (String $text, Integer $port = {8000 + p}) {{
  package {{ 'part{p:02}': ensure => installed }}
  -> file {{ '/etc/part{p:02}.conf':
    content => "${{text}} on ${{facts['networking']['hostname']}}:${{port}}\\n",
    mode    => '0644',
  }}
  ~> service {{ 'part{p:02}': ensure => running, enable => true }}
  Integer[1, {each - 2}].each |$n| {{
    part{p:02}::line {{ "${{n}}": text => $text }}
  }}
}}
""")
        write(f"site/part{p:02}/manifests/line.pp", f"""define part{p:02}::line (String $text) {{
  file {{ "/etc/part{p:02}.d/${{title}}": content => "${{title}} ${{text}}\\n", mode => '0644', owner => 'root' }}
}}
""")
    includes = "".join(f"  include part{p:02}\n" for p in range(parts))
    write("site/base/manifests/init.pp", f"""class base (Array $servers) {{
  file {{ '/etc/servers': content => "${{servers.join(',')}}\\n" }}
{includes}}}
""")
    for r in range(roles):
        name = f"r{r:02}"
        write(f"site/role/manifests/{name}.pp", f"class role::{name} {{\n  include base\n  include leaf::{name}\n}}\n")
        write(f"site/leaf/manifests/{name}.pp", f"""class leaf::{name} (String $greeting) {{
  file {{ '/etc/leaf': content => "${{greeting}}\\n" }}
}}
""")
        write(f"data/role/{name}.yaml", f"---\nleaf::{name}::greeting: hello {r}\n")
    write("data/common.yaml", "\n".join(common) + "\n")
    write("data/os/Debian.yaml", "---\npart03::port: 1234\n")
    for i in range(a.nodes):
        name = f"n{i:05}"
        fqdn = f"{name}.example.org"
        with open(f"{facts}/{fqdn}.json", "w") as out:
            json.dump({"name": fqdn, "values": {
                "role": f"r{i % roles:02}", "kernel": "Linux", "virtual": "kvm", "uptime_seconds": 1000 + i,
                "os": {"family": "Debian", "name": "Debian", "release": {"major": "12", "full": "12.5"}},
                "memory": {"system": {"total": "7.75 GiB", "available_bytes": 1000000 * (i + 1)}},
                "processors": {"count": 2 + i % 3, "models": ["QEMU"] * (2 + i % 3)},
                "mountpoints": {f"/m{m}": {"device": f"/dev/vda{m}", "size_bytes": 1 << 30} for m in range(6)},
                "networking": {"hostname": name, "domain": "example.org", "fqdn": fqdn,
                               "ip": f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}",
                               "interfaces": {"eth0": {"mtu": 1500, "ip": f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}"}}},
            }}, out)
    git = ["git", "-C", control, "-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for args in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *args], check=True)


main()

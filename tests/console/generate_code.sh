#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes environments, and modules for the forge, for the tests of the console.
#   generate_code.sh FOLDER
# FOLDER/environments has production, feature (other data and a removed file) and broken (fails for
# databases). FOLDER/modules has archives of a module whose README tries to be dangerous.
set -euo pipefail
top=$1
put() {  # put PATH: writes standard input
    mkdir -p "$(dirname "$top/$1")"
    cat >"$top/$1"
}
environment() {  # environment NAME CONNECTIONS
    local at=environments/$1
    put "$at/manifests/site.pp" <<'PP'
node default {
  include profile::base
  case $facts['role'] {
    'web': { include nginx }
    'db': { include postgresql }
    default: { }
  }
}
PP
    put "$at/hiera.yaml" <<'YAML'
version: 5
hierarchy:
  - name: role
    path: "role/%{facts.role}.yaml"
  - name: common
    path: common.yaml
YAML
    put "$at/data/common.yaml" <<YAML
profile::base::servers: [ntp1.example.org, ntp2.example.org]
profile::base::removed_long_ago: true
nginx::connections: $2
YAML
    put "$at/data/role/web.yaml" <<'YAML'
profile::base::servers: [ntp3.example.org]
nginx::version: 1.26.3-1
YAML
    put "$at/modules/profile/manifests/base.pp" <<'PP'
# What every node has.
#
# The *nearest* time servers come first.
#
# @param servers The time servers, the nearest first.
class profile::base(Array[String] $servers = []) {
  file { '/etc/ntp.conf':
    ensure  => file,
    mode    => '0644',
    content => profile::lines($servers),
  }
}
PP
    put "$at/modules/profile/functions/lines.pp" <<'PP'
# Joins texts to lines.
function profile::lines(Array[String] $all) >> String {
  $all.map |$each| { "server ${each}\n" }.reduce('') |$text, $line| { "${text}${line}" }
}
PP
    put "$at/modules/profile/manifests/unused.pp" <<'PP'
class profile::unused { }
PP
    put "$at/modules/profile/metadata.json" <<'JSON'
{"name":"acme-profile","version":"0.3.0","author":"acme","summary":"Profiles","license":"Apache-2.0","source":"x","dependencies":[]}
JSON
    put "$at/modules/nginx/manifests/init.pp" <<'PP'
# A web server.
#
# @param connections Connections of a worker.
# @param version Version of the package.
class nginx(Integer $connections = 512, String $version = 'installed') {
  package { 'nginx': ensure => $version }
  file { '/etc/nginx/nginx.conf':
    ensure  => file,
    content => "user www-data;\nworker_connections ${connections};\nmulti_accept on;\n",
    require => Package['nginx'],
  }
  nginx::site { $facts['networking']['fqdn']: }
}
PP
    put "$at/modules/nginx/manifests/site.pp" <<'PP'
# A site.
define nginx::site(Integer $port = 80) {
  file { "/etc/nginx/sites/${title}.conf": content => "listen ${port};\n" }
}
PP
    put "$at/modules/nginx/metadata.json" <<'JSON'
{"name":"acme-nginx","version":"1.0.0","author":"acme","summary":"Nginx","license":"Apache-2.0","source":"x","dependencies":[]}
JSON
    put "$at/modules/postgresql/manifests/init.pp" <<'PP'
# A database.
class postgresql {
  service { 'postgresql': ensure => running }
}
PP
}
environment production 1024
environment feature 4096
environment broken 1024
sed -i 's/running/runing/; s/^class postgresql {/&\n  fail("no <b>database<\/b> here")/' \
    "$top/environments/broken/modules/postgresql/manifests/init.pp"

mkdir -p "$top/modules"
for version in 1.0.0 1.1.0; do
    name=acme-nginx-$version
    put "build/$name/metadata.json" <<JSON
{"name":"acme-nginx","version":"$version","author":"acme","summary":"Nginx","license":"Apache-2.0","source":"x","dependencies":[{"name":"puppetlabs/stdlib","version_requirement":">= 9.0.0"}]}
JSON
    put "build/$name/README.md" <<'MD'
# nginx <script>alert(1)</script>

Manages [nginx](https://example.org) and [nothing](javascript:alert(1)).

### Usage

| parameter | meaning |
| --- | --- |
| `connections` | connections of a worker |

```puppet
include nginx
```
<img src=x onerror=alert(1)>
MD
    put "build/$name/CHANGELOG.md" <<'MD'
## 1.1.0
- More connections.
MD
    put "build/$name/REFERENCE.md" <<'MD'
# Reference
#### `nginx`
A web server.
MD
    tar -C "$top/build" -czf "$top/modules/$name.tar.gz" "$name"
done
rm -rf "$top/build"

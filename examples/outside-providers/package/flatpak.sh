#!/bin/sh
# Packages of Flatpak, as an outside provider (docs/outside-providers.md):
#   package { 'org.gnome.Calculator': ensure => latest, provider => flatpak }
input=$(cat)
# value KEY: prints the value of a key of the request.
value() { printf '%s\n' "$input" | sed -n "s/^$1=//p" | head -n 1; }
failed() { printf 'error=%s\n' "$1"; exit 1; }
name=$(value name)

installed() {
    flatpak list --system --app --columns=application,version | while read -r id version; do
        printf 'name=%s\nversion=%s\n\n' "$id" "${version:-present}"
    done
}

case $1 in
describe)
    echo protocol=1
    echo features=list upgradeable
    command -v flatpak >/dev/null || echo suitable=false
    ;;
list)
    installed
    ;;
query)
    installed | sed -n "/^name=$name\$/,/^\$/p"
    if [ "$(value want)" = latest ]; then
        newest=$(flatpak remote-ls --system --app --columns=application,version |
            sed -n "s/^$name[[:space:]]*//p" | head -n 1)
        printf 'latest=%s\n' "${newest:-present}"
    fi
    ;;
change)
    case $(value ensure) in
    absent | purged) flatpak uninstall --system --noninteractive -y "$name" ;;
    latest) flatpak install --system --noninteractive -y --or-update "$name" ;;
    *) flatpak install --system --noninteractive -y "$name" ;;
    esac >&2 || failed "flatpak could not change $name"
    ;;
*)
    failed "no such verb: $1"
    ;;
esac

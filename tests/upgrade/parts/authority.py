"""Certificate authorities in the folders of Puppet 6 and of Puppet 7 and 8: signed, revoked and waiting certificates."""

import json
import re

from machine import LONG, Failed, fetch

FOLDERS = {"old layout": "ssl/ca", "new layout": "etc/puppetserver/ca"}


def ca(machine, folder, *arguments, status=0):
    return machine.run("ca", *arguments, status=status, options=machine.options(cadir=folder))


def server(machine, folder):
    return machine.server("--roles", "ca", "--https", "127.0.0.1:0", cadir=folder)


def request(machine, name):
    machine.tool("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                 "-keyout", machine.path("work", f"{name}.key"), "-out", machine.path("work", f"{name}.csr"))
    return machine.path("work", f"{name}.csr")


def make(machine):
    machine.write("etc/puppet.conf", f"[main]\ncertname = localhost\nkey_type = ec\n[server]\nca_ttl = {LONG}\n")
    for layout, folder in FOLDERS.items():
        if layout == "new layout":
            # A root with an intermediate authority that signs.
            machine.path("ssl").rename(machine.path("first"))
            ca(machine, folder, "setup")
        with server(machine, folder) as urls:
            url = urls["https"].replace("127.0.0.1", "localhost")
            at = ("--server", "localhost", "--serverport", url.rpartition(":")[2])
            ca(machine, folder, "generate", "--certname", "good.example.org,revoked.example.org,other.example.org", "--ttl", "49y", *at)
            ca(machine, folder, "revoke", "--certname", "revoked.example.org", *at)
            status, body = fetch(f"{url}/puppet-ca/v1/certificate_request/waiting.example.org", request(machine, "waiting.example.org").read_bytes(),
                                 {"Content-Type": "text/plain"}, "PUT", machine.path("ssl/certs/ca.pem"))
            if status != 200:
                raise Failed(f"the request: {status} {body}")
    machine.path("ssl").rename(machine.path("second"))


def facts(machine, folder, name):
    # By default, OpenSSL 3.0 and 3.5 print names differently.
    text = machine.tool("openssl", "x509", "-in", machine.path(folder, "signed", f"{name}.pem"), "-noout", "-nameopt",
                        "RFC2253", "-subject", "-issuer", "-serial", "-fingerprint", "-sha256", "-startdate", "-enddate")
    return text.splitlines()


def verdict(machine, folder, file):
    """Whether OpenSSL accepts a certificate, with the revocation lists of the authority."""
    lines = machine.tool("sh", "-c", 'openssl verify -no_check_time -crl_check_all -CAfile "$1/ca_crt.pem" -CRLfile "$1/ca_crl.pem" "$2" 2>&1 || true', "sh",
                         machine.path(folder), file).splitlines()
    return "good" if lines[-1].endswith(": OK") else [line for line in lines if "error" in line][0].partition(" at ")[0]


def check_layout(machine, folder):
    out = {"list": json.loads(ca(machine, folder, "list", "--all", "--format", "json")[0]),
           "inventory": machine.path(folder, "inventory.txt").read_text(), "serial": machine.path(folder, "serial").read_text(),
           "revoked_keys": machine.path(folder, "revoked_keys").read_text()}
    for name in ("good", "revoked", "other"):
        out[name] = [facts(machine, folder, f"{name}.example.org"), verdict(machine, folder, machine.path(folder, "signed", f"{name}.example.org.pem"))]
    out["doctor"] = [[finding["kind"], finding["name"], finding["ends"]] for finding in json.loads(
        ca(machine, folder, "doctor", "--json")[0])["findings"] if finding["kind"] != "list"]
    before = machine.path(folder, "inventory.txt").read_text()
    with server(machine, folder) as urls:
        url = urls["https"].replace("127.0.0.1", "localhost")
        local, at = machine.path("ssl/certs/ca.pem"), ("--server", "localhost", "--serverport", url.rpartition(":")[2])
        chain = fetch(f"{url}/puppet-ca/v1/certificate/ca", ca=local)[1]
        out["served chain"] = chain == machine.path(folder, "ca_crt.pem").read_bytes()
        for name in ("good", "revoked"):
            # A renewal is authenticated with the certificate that it replaces.
            key = (machine.path(folder, "signed", f"{name}.example.org.pem"), machine.path("ssl/private_keys", f"{name}.example.org.pem"))
            try:
                status, body = fetch(f"{url}/puppet-ca/v1/certificate_renewal", b"", method="POST", ca=local, certificate=key)
            except OSError:
                status, body = "refused", b""
            out[f"renewal of {name}"] = status
            if status == 200:
                renewed = machine.path("work", "renewed.pem")
                renewed.write_bytes(body)
                out["renewed"] = [verdict(machine, folder, renewed), machine.tool("openssl", "x509", "-in", renewed, "-noout", "-serial").strip()]
        out["sign"] = ca(machine, folder, "sign", "--certname", "waiting.example.org", *at)[0]
        out["revoke"] = ca(machine, folder, "revoke", "--certname", "other.example.org", *at)[0]
    for name in ("waiting", "other"):
        out[f"{name} afterwards"] = verdict(machine, folder, machine.path(folder, "signed", f"{name}.example.org.pem"))
    after = machine.path(folder, "inventory.txt").read_text()
    if not after.startswith(before):
        raise Failed("the inventory was written again")
    out["new in the inventory"] = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\w+", "TIME", after[len(before):])
    return out


def check(machine):
    out = {}
    for (layout, folder), own in zip(FOLDERS.items(), ("first", "second")):
        if layout == "old layout":
            machine.path("first/ca").rename(machine.path("ca"))
        machine.path(own).rename(machine.path("ssl"))
        if layout == "old layout":
            machine.path("ca").rename(machine.path("ssl/ca"))
        out[layout] = check_layout(machine, folder)
        machine.path("ssl").rename(machine.path("done " + own))
    return out

"""Alternative values for a value in the source that the code would accept."""
import json
import re

SWAPS = {
    "present": "absent", "absent": "present", "running": "stopped", "stopped": "running", "file": "directory",
    "directory": "file", "installed": "absent", "latest": "present", "true": "false", "false": "true", "yes": "no", "no": "yes",
    "on": "off", "off": "on", "root": "daemon", "enabled": "disabled", "disabled": "enabled", "tcp": "udp", "info": "debug",
}
FACTS = {
    "family": ["RedHat", "Debian", "Suse", "FreeBSD"], "osfamily": ["RedHat", "Debian", "Suse", "FreeBSD"],
    "name": ["Ubuntu", "CentOS", "Fedora"], "operatingsystem": ["Ubuntu", "CentOS", "Fedora"],
    "architecture": ["arm64", "i386"], "kernel": ["FreeBSD", "windows"],
}
LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"$\\]|\\.)*\"|[A-Z][\w:]*\['[^']*'\]|-?\d+(\.\d+)?|0[xX]?[0-9a-fA-F]+|true|false|undef|"
                     r"(::)?[a-z][\w:]*|\{[^$]*\}|\[[^$]*\]")


def is_literal(text):
    return LITERAL.fullmatch(text) is not None


def pattern(text):
    """Returns a pattern that matches the text as a separate word."""
    return (r"(?<![\w:])" if text[0].isalnum() else "") + re.escape(text) + (r"(?![\w])" if text[-1].isalnum() else "")


def wanted(error):
    """Returns the values that the error of a type mismatch accepts."""
    out = []
    for inner in re.findall(r"Enum\[([^\]]*)\]", error):
        out += re.findall(r"'([^']*)'", inner)
    out += re.findall(r"(?:valid values|one of|must be|Valid options):?[^.(]*?['\"](\w+)['\"]", error)
    for word, values in (("Boolean", [True, False]), ("Integer", [7, 77, 1024]), ("Port", [77, 1077]), ("Numeric", [7]), ("Float", [0.5]),
                         ("path", ["/z", "/z/y"]), ("Path", ["/z", "/z/y"]), ("Url|URL|URI", ["http://z.example.org", "https://y.example.org/y"]),
                         ("IP|Address|Host", ["10.9.8.7", "z.example.org", "2001:db8::7"]), ("mode|Mode", ["0640", "0600"]),
                         ("Pattern|match", ["7", "1.2.3", "0600", "z", "7s", "7M", "/z"]), ("Array|array", [["z"], ["/z"], [7], [{"z": "z"}]]),
                         ("Hash|hash|Struct", [{"z": "z"}, {"z": {"z": "z"}}, {}]), ("String", ["z"]), ("Sensitive", ["z"])):
        if re.search(word, error):
            out += values
    return out


def values(old, error=""):
    """Returns alternatives for a value in a data file."""
    out = []
    if isinstance(old, bool):
        out = [not old]
    elif isinstance(old, (int, float)):
        out = [old + 1, old - 1]
    elif isinstance(old, list):
        out = [old + ["z"], old[:-1]] if old else [["z"], [7]]
        if old and not isinstance(old[-1], str):
            out.insert(0, old[:-1] + [values(old[-1])[0]])
        elif old:
            out.insert(0, old[:-1] + [old[-1] + "z"])
    elif isinstance(old, dict):
        out = [{**old, k: other} for k, v in old.items() for other in values(v)[:1]] + [{**old, "z": "z"}]
    elif isinstance(old, str):
        out = ["0640" if re.fullmatch("0?[0-7]{3}", old) else SWAPS.get(old, old + "z"), old + "z"]
        if re.search(r"\d", old):
            out.append(re.sub(r"\d", lambda m: str((int(m[0]) + 1) % 10), old, count=1))
            out.append(re.sub(r"[1-9]", lambda m: str(int(m[0]) - 1), old, count=1))
            out.append(re.sub(r"(\d)(\D*)$", lambda m: str((int(m[1]) + 1) % 10) + m[2], old))
    else:
        out = ["z", 7, True, ["z"], {"z": "z"}]
    out += wanted(error)
    return [v for i, v in enumerate(out) if v != old and v not in out[:i]]


def fact_values(name, old):
    if name.split(".")[-1] == "ip":
        return ["9.9.9.9"]
    known = [v for v in FACTS.get(name.split(".")[-1], []) if v != old]
    if isinstance(old, str) and re.match(r"\d", old):
        known += ["7", "11", "14.04"]
    return known + values(old)


def code(value):
    """Returns a value in Puppet's syntax."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return "[" + ", ".join(map(code, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{code(k)} => {code(v)}" for k, v in value.items()) + " }"
    return "undef" if value is None else json.dumps(value)


def codes(text, error=""):
    """Returns alternatives for a literal."""
    asked = [code(v) for v in wanted(error)]
    if text[0] in "'\"":
        out = [text[0] + v + text[0] for v in values(text[1:-1]) if "\n" not in v]
    elif text == "undef":
        out = ["'z'", "7", "true", "['z']", "{ 'z' => 'z' }"]
    elif text in ("true", "false"):
        out = ["false" if text == "true" else "true"]
    elif re.fullmatch(r"-?\d+", text):
        out = [text + "1", text[:-1] + str((int(text[-1]) + 1) % 8)]
    elif re.fullmatch(r"-?[\d.]+", text):
        out = [text + "1"]
    elif text[0] in "[{":
        # Changes each string in the collection, or adds one element.
        out = [text[: m.end()] + "z" + text[m.end():] for m in re.finditer(r"(?<![\w])['\"](?=\w)", text)][:12]
        inner = text[1:-1].strip().rstrip(",")
        more = "'zz'" if text[0] == "[" else "'zz' => 'zz'"
        out += [re.sub(r"(=>\s*['\"])(?=\w)", r"\1z", text, count=1), f"{text[0]}{inner}{', ' if inner else ''}{more}{text[-1]}"]
        out += ["['/zz']", "[7]"] if text[0] == "[" else []
    elif text[0].isupper():
        out = [text[:-2] + "z']"]
    else:
        out = ["'" + v + "'" for v in values(text)]
    return [c for i, c in enumerate(out + asked) if "".join(c.split()) != "".join(text.split()) and c not in (out + asked)[:i]]

"""Links of the documentation site: which ones lead to pages, and whether every one has a target."""

import posixpath
import re

LINK = re.compile(r"(?<!\\)(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1 *$", re.M | re.S)
INLINE = re.compile(r"`[^`\n]*`")


def title_of(text):
    match = re.search(r"^# +(.+?) *$", text, re.M)
    return re.sub(r"[`*]", "", match[1]) if match else ""


def quoted(text):
    """Quotes a text for YAML."""
    return "'" + text.replace("'", "''") + "'"


def outside_code(text, change):
    """Applies `change` to the parts of a Markdown text that are not code."""
    out, last = [], 0
    for code in sorted([*FENCE.finditer(text)], key=lambda m: m.start()):
        out += [inline_safe(text[last:code.start()], change), code[0]]
        last = code.end()
    return "".join(out) + inline_safe(text[last:], change)


def inline_safe(text, change):
    """The same for inline code. A link may contain code, so code is hidden, not cut out."""
    hidden = []

    def hide(match):
        hidden.append(match[0])
        return f"\0{len(hidden) - 1}\0"

    changed = change(INLINE.sub(hide, text))
    return re.sub(r"\0(\d+)\0", lambda match: hidden[int(match[1])], changed)


def slug(heading):
    """Returns the anchor of a heading, as MkDocs makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\s-]", "", text.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", text)


def anchors(text):
    found, counts = set(), {}
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", FENCE.sub("", text), re.M):
        name = slug(heading)
        counts[name] = counts.get(name, -1) + 1
        found.add(f"{name}_{counts[name]}" if counts[name] else name)
    return found


def rewritten(path, text, pages, root, assets):
    """Makes links of a document valid on the site. Pictures become assets; links to other files of the
    repository, which are not on the site, become plain text."""
    folder = posixpath.dirname("README.md" if path == "index.md" else path)
    here = posixpath.dirname(path)

    def replace(match):
        picture, label, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match[0]
        file, _, anchor = target.partition("#")
        full = posixpath.normpath(posixpath.join(folder, file))
        full = "index.md" if full == "README.md" else full
        if full + "/README.md" in pages:
            full += "/README.md"
        if full in pages:
            return f"[{label}]({posixpath.relpath(full, here or '.')}{'#' + slug(anchor) if anchor else ''})"
        source = root / full
        if picture and source.is_file():
            assets[full] = source.read_bytes()
            return f"![{label}]({posixpath.relpath(full, here or '.')})"
        if source.exists():
            return label
        return match[0]

    return outside_code(text, lambda part: LINK.sub(replace, part))


def broken(pages, assets):
    """Returns a line for each link that has no target."""
    known = {path: anchors(text) for path, text in pages.items()}
    faults = []
    for path, text in sorted(pages.items()):
        def check(part, path=path):
            for _, _, target in LINK.findall(part):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, anchor = target.partition("#")
                full = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
                if full not in pages and full not in assets:
                    faults.append(f"{path}: no page {target}")
                elif anchor and anchor not in known.get(full, ()):
                    faults.append(f"{path}: no heading for {target}")
            return part
        outside_code(text, check)
    return faults

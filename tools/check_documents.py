#!/usr/bin/env python3
"""Checks the documents: every design note is in its index, every page of docs/ is in
docs/README.md, and every link to a file of the repository has a target.

    tools/check_documents.py [ROOT]
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
bad = []


def text_of(path):
    return path.read_text(encoding="utf-8")


def listed(index, pages):
    """Checks that every page is linked from the index of its folder."""
    links = set(re.findall(r"\]\(([^)#]+)", text_of(index)))
    for page in pages:
        name = page.relative_to(index.parent).as_posix()
        if page != index and name not in links:
            bad.append(f"{index.relative_to(root)}: {name} is not listed")


design, docs = root / "docs/design", root / "docs"
listed(design / "README.md", sorted(design.glob("*.md")))
listed(docs / "README.md", sorted(docs.glob("*.md")))

numbers = {}
for note in sorted(design.glob("[0-9]*.md")):
    other = numbers.setdefault(note.name[:4], note.name)
    if other != note.name:
        bad.append(f"docs/design: {other} and {note.name} have one number")

for page in [*root.glob("*.md"), *docs.rglob("*.md"), *(root / "examples").rglob("*.md")]:
    if "releases" in page.parts:
        continue
    # Removes code blocks, which may contain text that looks like a link.
    prose = re.sub(r"^```.*?^```", "", text_of(page), flags=re.M | re.S)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:|#", target):
            continue
        if not (page.parent / target.split("#")[0]).exists():
            bad.append(f"{page.relative_to(root)}: {target} leads nowhere")

for line in bad:
    print(line, file=sys.stderr)
sys.exit(1 if bad else 0)

"""`python -m scripts.next_adr_number [--count N]`: free numbers for decision records; `--check` checks their form."""

import argparse
import re
import sys
from datetime import date
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent.parent / "docs" / "adrs"
STATUSES = ("draft", "proposed", "accepted", "rejected", "deprecated", "superseded")
SECTIONS = (
    "Context and Problem Statement",
    "Decision Drivers",
    "Considered Options",
    "Decision Outcome",
    "Consequences",
    "Confirmation",
)
_NAME = re.compile(r"(?P<number>\d{4})-(?P<slug>[a-z0-9]+(?:-[a-z0-9]+)*)\.md")
_RETIRED = re.compile(r"^\| (?P<number>\d{4}) \|", re.MULTILINE)
_FRONT_MATTER = re.compile(r"---\n(?P<yaml>.*?)\n---\n", re.DOTALL)
_OPTION = re.compile(r"^(?:[-*]|\d+\.) ", re.MULTILINE)


def records(folder: Path) -> list[Path]:
    """The decision records in `folder`, by number; everything but the index is one."""
    return sorted(path for path in folder.glob("*.md") if path.name != "README.md")


def used_numbers(folder: Path) -> set[int]:
    """The numbers of the records in `folder`, and of the deleted ones that its index lists: neither is free again."""
    numbers = {int(match["number"]) for path in records(folder) if (match := _NAME.fullmatch(path.name))}
    index = folder / "README.md"
    if index.exists():
        numbers |= {int(number) for number in _RETIRED.findall(index.read_text(encoding="utf-8"))}
    return numbers


def next_numbers(folder: Path, count: int = 1) -> list[str]:
    """The next `count` free numbers, four digits each. Gaps are not filled."""
    first = max(used_numbers(folder), default=0) + 1
    return [f"{number:04d}" for number in range(first, first + count)]


def faults(folder: Path) -> list[str]:
    """What is wrong with the form of the records in `folder`, one per line; empty when all is well."""
    found: list[str] = []
    seen: dict[str, str] = {}
    for path in records(folder):
        name = _NAME.fullmatch(path.name)
        if name is None:
            found.append(f"{path.name}: is not named NNNN-slugified-title.md")
        elif name["number"] in seen:
            found.append(f"{path.name}: has the number of {seen[name['number']]}")
        else:
            seen[name["number"]] = path.name
        found += [f"{path.name}: {fault}" for fault in _faults_of(path.read_text(encoding="utf-8"))]
    return found


def _faults_of(text: str) -> list[str]:
    front = _FRONT_MATTER.match(text)
    if front is None:
        return ["does not start with front matter"]
    try:
        fields = yaml.safe_load(front["yaml"])
    except yaml.YAMLError:
        return ["has front matter that is not YAML"]
    if not isinstance(fields, dict):
        return ["has front matter that is not a mapping"]
    found: list[str] = []
    if fields.get("status") not in STATUSES:
        found.append(f"has status {fields.get('status')!r}, not one of {', '.join(STATUSES)}")
    if not isinstance(fields.get("date"), date):
        found.append("has no date of the form YYYY-MM-DD")
    if fields.get("status") == "superseded" and not re.fullmatch(r"\d{4}", str(fields.get("superseded-by", ""))):
        found.append("is superseded, but `superseded-by` names no record")
    body = text[front.end() :]
    if len(re.findall(r"^# .+$", body, re.MULTILINE)) != 1:
        found.append("does not have exactly one title")
    sections = re.split(r"^#{2,3} ", body, flags=re.MULTILINE)[1:]
    contents = {title.strip(): content.strip() for title, _, content in (part.partition("\n") for part in sections)}
    found += [f"lacks the section {section!r}" for section in SECTIONS if section not in contents]
    found += [f"says nothing in {section!r}" for section in SECTIONS[:4] if contents.get(section) == ""]
    if len(_OPTION.findall(contents.get("Considered Options", ""))) < 2:
        found.append("considers fewer than two options")
    if "[INVESTIGATE" in text and fields.get("status") not in ("draft", "superseded"):
        found.append("has open questions, but is no draft")
    return found


def main() -> int:
    """Print the next numbers, one per line; with `--check`, what is wrong with the records."""
    parser = argparse.ArgumentParser(description="The next numbers for decision records.")
    parser.add_argument("--dir", type=Path, default=FOLDER, help="the folder of the records")
    parser.add_argument("--count", type=int, default=1, help="how many numbers, for records written at the same time")
    parser.add_argument("--list", action="store_true", help="list the numbers in use")
    parser.add_argument("--check", action="store_true", help="check the form of the records; exits 1 on a fault")
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count takes a whole number from 1")
    if options.check:
        found = faults(options.dir)
        print("\n".join(found) or "All records are well formed.")
        return 1 if found else 0
    if options.list:
        print("\n".join(f"{number:04d}" for number in sorted(used_numbers(options.dir))))
    else:
        print("\n".join(next_numbers(options.dir, options.count)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

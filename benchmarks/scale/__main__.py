"""Some of it: ``python -m benchmarks.scale counts ends``; nothing is recorded, which ``make bench NAME=scale`` does."""

import sys

from benchmarks.scale import PARTS


def main(names: list[str]) -> int:
    """Measure the parts that are named."""
    if not names or not set(names) <= set(PARTS):
        print(f"name some of {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    for name in names:
        for figure, value in PARTS[name](lambda text: print(f"{text} …", file=sys.stderr, flush=True)).items():
            print(f"{figure} {value:.6g}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

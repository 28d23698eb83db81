"""Run benchmarks: `python -m bench [NAME …]`. Each module here and in a room is one benchmark.

Benchmarks are not tests: they print tables, as ratios against a peer or a baseline in the same run,
and never fail because a machine is slow.
"""

import argparse
import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import bench
from bench import _host, fleets, phones, steps, storage

# What benchmarks share with tests stands on the support of the phone's, as pytest is told too.
sys.path.append(str(Path(__file__).parents[1] / "virtual_phone" / "tests"))
ROOMS = (bench, fleets, phones, steps, storage)


def benchmarks() -> dict[str, str]:
    """Return the benchmarks there are: the module of each by its name."""
    inner = {room.__name__.rpartition(".")[2] for room in ROOMS}
    return {
        module.name: f"{room.__name__}.{module.name}"
        for room in ROOMS
        for module in pkgutil.iter_modules(room.__path__)
        if not module.name.startswith("_") and module.name not in inner
    }


def main() -> None:
    """Run the named benchmarks, or all of them."""
    found = benchmarks()
    names = sorted(found)
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"which: {', '.join(names)}")
    given, options = sys.argv[1:], []
    if given and given[0] in found and any(word.startswith("-") for word in given):
        # The options of one benchmark are its own business.
        given, options = given[:1], given[1:]
    chosen = parser.parse_args(given).name or names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(names)}")
    # `devices` is all that is measured of devices: devices_trees, devices_pool …
    chosen = [n for n in names if any(n == c or n.startswith(f"{c}_") for c in chosen)]
    for name in chosen:
        if not options:
            print(f"\n## {name}\n", flush=True)
        module = importlib.import_module(found[name])
        run = module.main
        if options and not inspect.signature(run).parameters:
            # It has no options of its own: it can say what it measures, and refuses any other.
            parser = argparse.ArgumentParser(
                prog=f"python -m bench {name}",
                description=module.__doc__,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            parser.parse_args(options)
        began = _host.ticks()
        run(options) if options else run()
        share = _host.ticks().given_since(began)
        if share < _host.FAIR:
            print(
                f"\nThe host gave {share:.0%} of the CPU that was asked for meanwhile.", flush=True
            )


if __name__ == "__main__":
    main()

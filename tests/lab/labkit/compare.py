# SPDX-License-Identifier: MIT
"""Holds the truth of a run recorded again against the one kept: python3 -m labkit.compare DIR, whose entries are NAME/truth.json.

Two recordings of one run never agree in times, offsets and numbers. Their shape must: the settings, which faults there were and
whether each evicted, what triggered which host's rebalance because of which fault, what was executed twice for which reason, and
the share of the network. An exit code of 1 says that a run differs.
"""

import collections
import json
import pathlib
import sys

from . import plan


def counted(rows):
    return collections.Counter(tuple(row) for row in rows)


def injected(faults):
    """What was done, in its order. How often a full heap is collected, and how long each time, is the collector's choice."""
    collected = [fault for fault in faults if fault.get("sub") == "gc"]
    rows = [(fault["kind"], fault["host"], fault["network"], fault["evicts"]) for fault in faults if fault not in collected]
    for host in sorted({fault["host"] for fault in collected}):
        rows.append(("gc", host, any(fault["evicts"] for fault in collected if fault["host"] == host)))
    return rows


def shape(truth):
    """What two recordings of a run have in common: name -> value that can be compared."""
    kinds = {fault["id"]: fault["kind"] for fault in truth["faults"]}
    return {
        "settings": truth["settings"],
        "faults": injected(truth["faults"]),
        "clocks": truth["clocks"],
        # A member that joins with others joins before or after the round that waits for them: no root, no fault, no difference.
        "rebalances": counted(
            (row["trigger"], row["host"], kinds.get(row["fault"])) for row in truth["rebalances"] if row["root"]),
        # Whether and how much is redelivered depends on where between two commits the fault began; what the caller and the service
        # did twice does not.
        "duplicates": sorted({(row["step"], row["cause"]) for row in truth["duplicates"] if row["cause"] != "redelivery"}),
        "resubmissions": len(truth["resubmissions"]),
        "lost": sorted({row["step"] for row in truth["lost"]}),
        "share": truth["share"],
    }


def differences(kept, again):
    one, other = shape(kept), shape(again)
    return [f"{name}: {one[name]} / {other[name]}" for name in one if one[name] != other[name]]


def kept_truth(name):
    """Where the truth of the recording that is kept stands; three runs are samples."""
    archived = plan.RUNS / f"{name}.truth.json"
    return archived if archived.exists() else plan.RUNS.parents[2] / "samples" / name / "truth.json"


def main(directory):
    same, differ = 0, 0
    for path in sorted(pathlib.Path(directory).glob("*/truth.json")):
        again = json.loads(path.read_text())
        kept = kept_truth(again["run"])
        if not kept.exists():
            print(f"{again['run']}: no recording is kept")
            continue
        found = differences(json.loads(kept.read_text()), again)
        same, differ = same + (not found), differ + bool(found)
        for line in found:
            print(f"{again['run']}: {line}")
    print(f"{same} of the same shape, {differ} not")
    return differ != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

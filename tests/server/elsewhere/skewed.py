"""A worker whose clocks are wrong by some seconds.

usage: skewed.py SECONDS QUEUE
"""

import sys

from tests.runtime.jobs.counting import skew

if __name__ == "__main__":
    skew(float(sys.argv.pop(1)))
    from tests.server.durable.interrupted import main

    main()

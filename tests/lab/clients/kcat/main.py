# SPDX-License-Identifier: MIT
"""The refund consumer as a shell user has it: kcat prints the records of its group, a program reads them from a pipe.

kcat logs on stderr: its own lines and librdkafka's. It polls on whatever the program behind the pipe does.
"""

import ctypes
import logging
import signal
import subprocess
import time

import refunds

PR_SET_PDEATHSIG = 1


def end_with_this():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    log = logging.getLogger("refunds")
    work = refunds.Refunds()
    log.info("Starting refund service on %s", refunds.CLIENT_ID)
    settings = {
        "client.id": refunds.CLIENT_ID,
        "session.timeout.ms": refunds.SESSION_TIMEOUT_MS,
        "heartbeat.interval.ms": refunds.HEARTBEAT_INTERVAL_MS,
        "max.poll.interval.ms": refunds.MAX_POLL_INTERVAL_MS,
        "auto.offset.reset": "earliest",
    }
    command = ["kcat", "-b", refunds.BOOTSTRAP, "-G", refunds.GROUP, "-u", "-f", "%p %o %s\n"]
    for key, value in settings.items():
        command += ["-X", f"{key}={value}"]
    kcat = subprocess.Popen([*command, refunds.TOPIC], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                            preexec_fn=end_with_this)

    def stop(*_):
        log.info("Stopping refund service on %s", refunds.CLIENT_ID)
        work.journal("stop")
        kcat.terminate()

    signal.signal(signal.SIGTERM, stop)
    for line in kcat.stdout:
        partition, offset, value = line.split(" ", 2)
        for seconds in work.handle(refunds.TOPIC, int(partition), int(offset), value):
            time.sleep(seconds)
    kcat.wait()


main()

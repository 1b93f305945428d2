"""A process with this folder in PYTHONPATH stands still for a minute when it is told SIGUSR1."""

import signal
import time

signal.signal(signal.SIGUSR1, lambda *_: time.sleep(60))

"""For all tests."""

import signal

# A shell that starts the tests in its background has them ignore interrupts, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

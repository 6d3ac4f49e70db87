"""The development environment: what a bare machine needs to run everything here.

`python3 -m tests.environment NAME` makes a named environment, once, and prints its Python.
Standard library only, and Python 3.11 or newer: it runs before anything is installed.

catalogue    what each environment holds: plain data
venvs        makes one of them
interpreter  finds a Python that Home Assistant accepts
unpacked     the last resort for that: Debian's, unpacked beside the system
system       Debian packages
suite        what `scripts/test` does; checks: its steps; bars: how much must be covered
develop      what `scripts/develop` does
"""

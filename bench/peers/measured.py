# Runs a command with its output in a file, and prints what it and everything it waited for have used: `measured.py output command ...`.

import json
import resource
import subprocess
import sys
import time

begun = time.monotonic()
with open(sys.argv[1], 'wb') as output:
    code = subprocess.run(sys.argv[2:], stdout=output).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({
    'code': code,
    'seconds': time.monotonic() - begun,
    'cpuSeconds': used.ru_utime + used.ru_stime,
    'mib': used.ru_maxrss / 1024,
}))

# SPDX-License-Identifier: Apache-2.0
"""A row for table.py that is no ledger: figure.py NAME VERDICT TEXT…, as a line of JSON."""

import json
import sys

print(json.dumps({"program": sys.argv[1], "verdict": sys.argv[2], "rows": " ".join(sys.argv[3:])}))

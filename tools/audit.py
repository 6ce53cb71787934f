"""Ask pip-audit whether the packages of an environment have known holes.

    python tools/audit.py .venv/bin/python

The database is on the network. A package that cannot be looked up is no failure: it is counted and said. A known hole
is one, and the exit code is 1.
"""

import json
import re
import subprocess
import sys

UNREACHABLE = re.compile("ConnectionError|Could not connect|Timeout|ProxyError|SSLError|HTTPError")
SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"


def main(python: str) -> int:
    """Print what is known about the packages that this Python sees."""
    site = subprocess.run([python, "-c", SITE], capture_output=True, text=True, check=True).stdout.strip()
    command = [sys.executable, "-m", "pip_audit", "--path", site, "--format", "json", "--progress-spinner", "off"]
    asked = subprocess.run(command, capture_output=True, text=True)
    if asked.returncode not in (0, 1):  # wrong arguments, a broken installation
        sys.exit(asked.stderr)
    try:
        packages = json.loads(asked.stdout)["dependencies"]
    except ValueError:  # it gives up at the first error of the network
        if not UNREACHABLE.search(asked.stderr):
            sys.exit(asked.stderr or "pip-audit: it gave no report")
        reason = asked.stderr.strip().splitlines()[-1:]
        print("pip-audit: nothing was checked, the database cannot be reached:", *reason)
        return 0
    unknown = [package for package in packages if "skip_reason" in package and package["name"] != "dualpix"]
    holes = [(package, hole) for package in packages for hole in package.get("vulns", ())]
    for package, hole in holes:
        fixed = ", ".join(hole["fix_versions"]) or "no version yet"
        print(f"pip-audit: {package['name']} {package['version']}: {hole['id']}, mended in {fixed}")
    looked_up = sum("vulns" in package for package in packages)
    print(
        f"pip-audit: {looked_up} packages looked up, {len(holes)} known holes, {len(unknown)} not in the database here"
    )
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""The scripts of tools/: what they make of the answers of other programs."""

import importlib.util
import json
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


def tool(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def audit(monkeypatch):
    """Run the audit with a pip-audit that answers as told: exit code, stdout and stderr."""
    module = tool("audit")

    def run(*answer):
        replies = iter([(0, "/site", ""), answer])
        monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess((), *next(replies)))
        return module.main("python")

    return run


def test_a_known_hole_fails(audit, capsys):
    hole = {"id": "CVE-1", "fix_versions": ["1.1"]}
    report = {"dependencies": [{"name": "a", "version": "1.0", "vulns": [hole]}, {"name": "b", "skip_reason": "?"}]}
    assert audit(1, json.dumps(report), "") == 1
    assert capsys.readouterr().out == (
        "pip-audit: a 1.0: CVE-1, mended in 1.1\n"
        "pip-audit: 1 packages looked up, 1 known holes, 1 not in the database here\n"
    )


def test_a_missing_database_is_said_and_does_not_fail(audit, capsys):
    assert audit(1, "", "ConnectionError: no route\n") == 0
    assert "nothing was checked" in capsys.readouterr().out


def test_a_broken_audit_fails(audit):
    with pytest.raises(SystemExit, match="usage"):
        audit(2, "", "usage: pip-audit")
    with pytest.raises(SystemExit, match="KeyError"):
        audit(1, "", "Traceback (most recent call last):\nKeyError: 'name'\n")
    with pytest.raises(SystemExit, match="no report"):
        audit(1, "", "")


@pytest.mark.parametrize(("version", "tag"), [("3.10", "3.10"), ("3.11", "3.11"), ("3.12", "abi3"), ("3.14", "abi3")])
def test_one_wheel_serves_python_3_12_and_later(version, tag):
    assert tool("wheels").tag_of(version) == tag

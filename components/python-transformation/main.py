"""The Python transformation: installs the packages of its configuration, then runs its codes in order, in one module."""

import importlib.metadata
import json
import linecache
import os
import shutil
import subprocess
import sys
import traceback
import types

OWN = os.path.abspath(__file__)
MAX_PACKAGES = 100
MAX_PACKAGE_CHARACTERS = 500


class UserError(Exception):
    """Ends the run with its text: the configuration has to change."""


def read_parameters(data):
    with open(os.path.join(data, "config.json"), encoding="utf-8") as file:
        parameters = json.load(file).get("parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    if parameters.get("git") or parameters.get("source") == "git":
        raise UserError("parameters.git is not supported: write the code into parameters.blocks.")
    if parameters.get("venv"):
        print(f"parameters.venv is ignored: the code runs in Python {sys.version.split()[0]} of this node.")
    return parameters


def read_codes(parameters):
    """Compiled before the first one runs: a syntax error costs no time and changes nothing."""
    shape = UserError('parameters.blocks is invalid. Expected: [{"name": "...", "codes": [{"name": "...", "script": ["print(1)"]}]}].')
    blocks = parameters.get("blocks")
    if not isinstance(blocks, list):
        raise shape
    codes = []
    for b, block in enumerate(blocks):
        if not isinstance(block, dict) or not isinstance(block.get("codes"), list):
            raise shape
        for c, code in enumerate(block["codes"]):
            script = code.get("script") if isinstance(code, dict) else None
            lines = [script] if isinstance(script, str) else script
            if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
                raise shape
            name = f"{block.get('name') or f'Block {b + 1}'} / {code.get('name') or f'Code {c + 1}'}"
            codes.append(compiled(name, "\n".join(lines) + "\n"))
    return codes


def compiled(name, text):
    # Tracebacks print the lines of a file that they find here.
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    try:
        return name, compile(text, name, "exec")
    except (SyntaxError, ValueError) as error:
        at = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise UserError(f"{name}{at}: {type(error).__name__}: {getattr(error, 'msg', error)}") from None


def read_packages(parameters):
    packages = parameters.get("packages") or []
    if not isinstance(packages, list) or len(packages) > MAX_PACKAGES:
        raise UserError(f'parameters.packages is invalid. Expected: a list of at most {MAX_PACKAGES} names such as "pandas" or "pandas==2.2.3".')
    for package in packages:
        # A word that begins with a dash would be an option of the installer.
        if not isinstance(package, str) or not package[:1].isalnum() or "\n" in package or len(package) > MAX_PACKAGE_CHARACTERS:
            raise UserError(f'parameters.packages contains {json.dumps(package)[:100]}, which is not a package. Expected: a name such as "pandas" or "pandas==2.2.3".')
    return packages


def is_installed(package):
    try:
        from packaging.requirements import Requirement
    except ImportError:
        try:
            from pip._vendor.packaging.requirements import Requirement
        except ImportError:
            return False
    try:
        wanted = Requirement(package)
        return not wanted.url and not wanted.extras and wanted.specifier.contains(importlib.metadata.version(wanted.name))
    except Exception:  # not there, or a form that only the installer reads
        return False


def installer():
    uv = shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--python", sys.executable, "--no-progress"]
    try:
        import pip  # noqa: F401
    except ImportError:
        raise UserError(
            "parameters.packages cannot be installed: this node has neither uv nor pip. The operator installs one of them."
        ) from None
    return [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"]


def install(packages):
    missing = [package for package in packages if not is_installed(package)]
    if not missing:
        return
    target = os.path.join(os.environ["TMPDIR"], "packages")
    environment = {**os.environ, "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never", "PIP_ROOT_USER_ACTION": "ignore"}
    command = [*installer(), "--target", target, "--", *missing]
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if ended.returncode != 0:
        last = " ".join(line.strip() for line in ended.stdout.splitlines() if line.strip())[-1000:]
        raise UserError(f"The packages {', '.join(missing)} could not be installed: {last}")
    print(f"Installed {', '.join(missing)}.")
    sys.path.insert(0, target)
    # For programs that the code starts.
    os.environ["PYTHONPATH"] = target


def run(codes):
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    for name, code in codes:
        print(f"Running {name}.")
        try:
            exec(code, module.__dict__)
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != OWN]
            line = next((frame.lineno for frame in reversed(frames) if frame.filename == name), None)
            at = f", line {line}" if line else ""
            text = "".join(traceback.format_list(frames))
            raise UserError(f"{name}{at}: {type(error).__name__}: {error}\n{text}".rstrip()) from None


def main():
    data = os.environ["KBC_DATADIR"]
    try:
        parameters = read_parameters(data)
        codes = read_codes(parameters)
        sys.argv = [""]
        sys.path.pop(0)  # the folder of this file
        install(read_packages(parameters))
        os.chdir(data)
        run(codes)
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()

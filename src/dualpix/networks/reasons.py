"""What ONNX Runtime says about an error, in a few words.

Its text begins with a code, often followed by a C++ file and the signature of a function. The reason is at the end.
"""

import re

LONGEST = 300  # characters that are kept

_PLACE = re.compile(r"(?:[A-Za-z]:)?[\\/][^\s:]*\.(?:cc|cpp|h|hpp):\d+ ")
_WITH_ARGUMENTS = re.compile(r"[^()]*::[^\s()]*\(")  # GCC and Clang: void a::b(int, c::d) const [with T = float]
_BARE = re.compile(r"\S+::\S+ ")  # Visual C++: a::b
_AFTER = re.compile(r"(?: const)?(?: \[with [^\]]*\])? ?")
_TOO_NEW = {
    "ir_version": re.compile(r"Unsupported model IR version: (\d+), max supported IR version: (\d+)"),
    "opset": re.compile(r"Opset (\d+) is under development.* till opset (\d+)"),
}


def reason(error: Exception) -> str:
    """The words of ONNX Runtime in one line, without its code and the place in its source."""
    text = " ".join(str(error).split())
    words = text.split(" : ", 3)[-1] if text.startswith("[ONNXRuntimeError]") else text
    if place := _PLACE.search(words):
        words = words[: place.start()] + _without_signature(words[place.end() :])
    return words if len(words) <= LONGEST else f"...{words[-LONGEST:]}"


def too_new(error: Exception) -> str | None:
    """What is newer in a file than ONNX Runtime reads, and the way out; None if nothing is."""
    text = " ".join(str(error).split())
    for name, pattern in _TOO_NEW.items():
        if found := pattern.search(text):
            return (
                f"has {name} {found[1]}, but this ONNX Runtime reads up to {found[2]}: export it with {name} "
                f"{found[2]} or less, or update onnxruntime"
            )
    return None


def _without_signature(text: str) -> str:
    if not (start := _WITH_ARGUMENTS.match(text)):
        return _BARE.sub("", text, count=1) if _BARE.match(text) else text
    depth, at = 1, start.end()
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return _AFTER.sub("", text[at:], count=1) or text

"""Files that make editors, shells and package managers run the author's programs without asking."""

from __future__ import annotations

#: Suffixes of a file's path, the content that starts a program, and its description. From the programs' documentation.
STARTERS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    ((".envrc",), "", "what direnv runs when the folder is entered, once it is allowed"),
    (
        (".vscode/tasks.json", ".code-workspace"),
        r'"runOn"\s*:\s*"folderOpen"',
        "a task that the editor runs when the folder is opened",
    ),
    (
        (".devcontainer/devcontainer.json", ".devcontainer.json"),
        r'"(?:initialize|onCreate|updateContent|postCreate|postStart|postAttach)Command"',
        "a command that the editor runs when the folder is opened in a container",
    ),
    (
        (".vscode/settings.json", ".code-workspace"),
        r'"(?:[\w.-]*(?:[pP]ath|[eE]xecutable|[cC]ommand|[iI]nterpreter|[sS]hell)[\w.]*|terminal\.integrated\.[\w.]+)"'
        r'\s*:\s*(?:\{|\[|"(?:\.|/|\$\{workspace))',
        "a program of the folder's own that the editor starts in place of the user's",
    ),
    (
        (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".gemini/settings.json", ".claude/settings.json"),
        r'"command"\s*:\s*"',
        "a program that AI assistants in editors start when the folder is opened",
    ),
    ((".claude/settings.local.json",), r'"command"\s*:\s*"', "a program that AI assistants start in the folder"),
    ((".dir-locals.el", ".dir-locals-2.el"), r"\beval\b", "Lisp that Emacs runs when a file of the folder is opened"),
    ((".exrc", ".nvimrc", ".nvim.lua", ".vimrc"), r"\S", "commands that vi runs when it is started in the folder"),
    (
        ("package.json",),
        r'"(?:pre|post)?(?:install|prepare)"\s*:\s*"',
        "a command that npm runs when it installs the folder's packages",
    ),
    (("mise.toml",), r"(?m)^\s*\[(?:hooks|tasks)|exec\(", "a command that mise runs when the folder is entered"),
    ((".zed/settings.json", ".zed/tasks.json"), r'"(?:command|path)"\s*:\s*"', "a program that the editor starts"),
    (
        ("genai_config.json",),
        r'"custom_ops_library"\s*:\s*"[^"]',
        "a library of the folder's own that onnxruntime loads",
    ),
    (("config.pbtxt",), r'(?m)^\s*backend\s*:\s*"python"', "Python code that Triton's server runs: model.py"),
    (
        (".gitmodules",),
        r"(?m)^\s*(?:(?:url|path)\s*=\s*\"?(?:-|\.\./|ext::)|update\s*=\s*\"?!)",
        "a submodule whose address is a git option or a path outside, or that is updated by a program",
    ),
    (
        ("requirements.txt", "constraints.txt"),
        r"(?m)^\s*(?:-i|--(?:extra-)?index-url|-f|--find-links)[\s=]+http://",
        "a package index that anyone on the network path can replace",
    ),
)

"""The C extension. Everything else about the project is in pyproject.toml."""

import glob
import os
import shlex

from setuptools import Extension, setup

CFLAGS = ["-std=c11", "-O3", "-fvisibility=hidden", "-Werror=implicit-function-declaration"]

# Flags for one's own builds, such as -fsanitize=address,undefined; the linker gets them too.
EXTRA = shlex.split(os.environ.get("IONFAST_CFLAGS", ""))

setup(
    ext_modules=[
        Extension(
            "ionfast._ionfast",
            sources=sorted(glob.glob("src/c/core/*.c") + glob.glob("src/c/py/*.c")),
            depends=sorted(glob.glob("src/c/core/*.h") + glob.glob("src/c/py/*.h")),
            include_dirs=["src/c/core", "src/c/py"],
            extra_compile_args=CFLAGS + EXTRA,
            extra_link_args=EXTRA,
        )
    ]
)

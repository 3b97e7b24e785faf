"""The same documents to several Ion readers: whether each accepts, and what it read, must agree.

    python -m tests.differential --count 10000 --seed 1 --with c,rs,java

`c` is amazon.ion's C extension, which must be installed; `rs` is ion-rs and needs cargo; `java` is ion-java
and needs Maven and a JDK. docs/robustness.md tells what was found. `generate` and `mutate` make documents,
`programs` runs the implementations, each a process of its own that answers with a canonical text
(`canonical`), and `expected` knows the differences for which the specification has a sentence.
"""

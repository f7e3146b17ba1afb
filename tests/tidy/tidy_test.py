#!/usr/bin/env python3
"""Each rule of tidy.py finds its fault, and lets pass what is right."""

import pathlib
import tempfile
import unittest

import tidy


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def faults(self):
        return list(tidy.faults(self.root))

    def assert_refused(self, path, header):
        self.write(path, f"#include {header}\n")
        folder = next(f for f, _ in tidy.INCLUDES if path.startswith(f))
        bare = header.strip('<>"')
        self.assertEqual(self.faults(),
                         [f"{path}:1: {folder} may not include {bare}"])

    def test_engine_includes_no_protos(self):
        self.assert_refused("server/engine/a.cc", '"casement/v1/value.pb.h"')

    def test_engine_includes_no_store(self):
        self.assert_refused("server/engine/a.h", '"state/store.h"')

    def test_engine_includes_no_runtime(self):
        self.assert_refused("server/engine/a.h", '"server/runtime/clock.h"')

    def test_engine_includes_no_system_headers(self):
        self.assert_refused("server/engine/a.cc", "<sys/time.h>")

    def test_state_includes_no_engine(self):
        self.assert_refused("state/a.cc", '"server/engine/types.h"')

    def test_runtime_includes_no_grpc(self):
        self.assert_refused("server/runtime/a.cc", "<grpcpp/grpcpp.h>")

    def test_runtime_includes_no_leveldb(self):
        self.assert_refused("server/runtime/a.cc", '"leveldb/db.h"')

    def test_runtime_includes_no_rpc(self):
        self.assert_refused("server/runtime/a.cc", '"server/rpc/a.h"')

    def test_rpc_includes_no_store(self):
        self.assert_refused("server/rpc/a.cc", '"state/store.h"')

    def test_client_includes_no_server(self):
        self.assert_refused("client/tool/a.cc", '"server/engine/types.h"')

    def test_client_includes_no_store(self):
        self.assert_refused("client/a.cc", '"state/store.h"')

    def test_right_includes_pass(self):
        self.write("server/engine/a.cc",
                   '#include <cmath>\n#include "absl/time/time.h"\n'
                   '#include "server/engine/a.h"\n#include "xxhash.h"\n')
        self.write("state/a.cc",
                   '#include <fcntl.h>\n#include <leveldb/db.h>\n')
        self.write("client/tool/a.cc",
                   '#include <sys/ioctl.h>\n#include "client/event.h"\n'
                   '#include "casement/v1/value.pb.h"\n')
        self.write("tests/state/a_test.cc", '#include "server/engine/a.h"\n')
        self.assertEqual(self.faults(), [])

    def test_long_files(self):
        self.write("state/a.cc", "\n" * 600)
        self.write("tests/state/a_test.cc", "\n" * 700)
        self.assertEqual(self.faults(), [])
        self.write("state/a.cc", "\n" * 601)
        self.assertEqual(self.faults(),
                         ["state/a.cc:601: 601 lines, more than 600"])

    def test_wide_lines(self):
        self.write("client/a.cc", "// " + "ä" * 77 + "\n")
        self.assertEqual(self.faults(), [])
        self.write("client/a.cc", "// " + "ä" * 78 + "\n")
        self.assertEqual(self.faults(),
                         ["client/a.cc:1: 81 columns, more than 80"])

    def test_markers(self):
        marker = "TO" + "DO"
        self.write("client/a.cc", f"// {marker}: later\n")
        self.assertEqual(self.faults(),
                         [f"client/a.cc:1: leftover marker {marker}"])

    def test_places(self):
        self.write("README.md", "see /" + "home/someone/notes\n")
        self.assertEqual(
            self.faults(),
            ["README.md:1: a place on one machine only: /" + "home/s"])

    def test_documents(self):
        self.write("docs/a.md", "[b](b.md) [c](../c.md#x) `server/engine/a.h`")
        self.assertEqual(self.faults(), [
            "docs/a.md:1: link to b.md, which isn't there",
            "docs/a.md:1: link to ../c.md, which isn't there",
            "docs/a.md:1: names server/engine/a.h, which isn't there",
        ])
        self.write("docs/b.md", "")
        self.write("c.md", "[w](https://example.com/none)")
        self.write("server/engine/a.h", "")
        self.assertEqual(self.faults(), [])

    def test_quotes(self):
        self.write("examples/python/a.py", "def f():\n    a = 1\n    b = 2\n")
        self.write("README.md", "```python\na = 1\nb = 2\n```\n")
        self.assertEqual(self.faults(), [])
        self.write("README.md", "```python\na = 1\nb = 3\n```\n")
        self.assertEqual(self.faults(),
                         ["README.md:1: code that stands in no example"])

    def test_build_folder_is_skipped(self):
        self.write("build/dev/a.cc", "/" + "home/x\n")
        self.assertEqual(self.faults(), [])


if __name__ == "__main__":
    unittest.main()

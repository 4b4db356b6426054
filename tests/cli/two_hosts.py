"""Runs over two hosts: network namespaces with a cable between them, each with a name, a /dev/shm and a /tmp of its own.

Needs root, iproute2, util-linux and Open MPI; skipped elsewhere. The second host does not see the folder of the job.
"""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import chargeability
import command
import memory
from cluster import LONG_JOB, LONGER
from command import CommandTest

#: What Open MPI needs to notice a lost cable in seconds rather than minutes; docs/do/clusters.md names the same.
HEED_CABLE = {"oob_tcp_keepalive_time": 2, "oob_tcp_keepalive_intvl": 1, "oob_tcp_keepalive_probes": 3}
FIRST, SECOND = "10.77.83.1", "10.77.83.2"
PHYSICS = ("gravity", "magnetic", "electric", "electromagnetic", "acoustic", "elastic", "heat")

#: Takes the place of ssh: mpirun calls it with a host and a command. `/tmp` of the second host is empty.
AGENT = """\
#!/bin/sh
host=$1; shift
case $host in {first}) n=1 ;; *) n=2 ;; esac
exec ip netns exec {name}-$n unshare --uts --mount sh -c '
  hostname terrane-$0
  mount -t tmpfs tmpfs /dev/shm
  if [ $0 = 2 ]; then mount -t tmpfs tmpfs /tmp; fi
  eval "$1"' $n "$*"
"""


class TwoHostsTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        for tool in ("ip", "unshare", "mpirun"):
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"there is no {tool}")
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root makes network namespaces")
        if "Open MPI" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout:
            raise unittest.SkipTest("mpirun is not that of Open MPI")
        devices = subprocess.run([command.TERRANE, "devices"], capture_output=True, text=True).stdout
        if "mpi\n  not in this build" in devices:
            raise unittest.SkipTest("this build has no MPI")
        cls.name = f"terrane{os.getpid()}"
        cls.addClassCleanup(cls.take_down)
        for line in (f"netns add {cls.name}-1", f"netns add {cls.name}-2",
                     f"-n {cls.name}-1 link add cable type veth peer name cable netns {cls.name}-2",
                     f"-n {cls.name}-1 addr add {FIRST}/24 dev cable", f"-n {cls.name}-2 addr add {SECOND}/24 dev cable",
                     *(f"-n {cls.name}-{n} link set {link} up" for n in (1, 2) for link in ("lo", "cable"))):
            done = subprocess.run(["ip", *line.split()], capture_output=True, text=True)
            if done.returncode != 0:
                raise unittest.SkipTest(f"ip {line}: {done.stderr.strip()}")

    @classmethod
    def take_down(cls):
        for n in (1, 2):
            subprocess.run(["ip", "netns", "del", f"{cls.name}-{n}"], capture_output=True)

    def setUp(self):
        super().setUp()
        if not str(self.folder).startswith("/tmp/") or command.TERRANE.startswith("/tmp/"):
            self.skipTest("the second host must see the program and not the job: TMPDIR=/tmp, a build elsewhere")
        common = tempfile.TemporaryDirectory(prefix="terrane-test-", dir="/var/tmp")  # the daemon of a host looks for it
        self.addCleanup(common.cleanup)
        self.agent = Path(common.name) / "agent"
        self.agent.write_text(AGENT.format(first=FIRST, name=self.name), encoding="utf-8")
        self.agent.chmod(0o755)
        self.write("hosts", f"{FIRST} slots=4\n{SECOND} slots=4\n")

    def launcher(self, ranks, **settings):
        """Words that run what follows on ranks dealt to the hosts in turn."""
        settings = {"plm_rsh_agent": self.agent, "btl": "tcp,self,vader", "btl_tcp_if_include": "cable",
                    "oob_tcp_if_include": "cable", **settings}
        pairs = [str(word) for name, value in settings.items() for word in ("--mca", name, value)]
        return [self.agent, FIRST, shlex.join(["mpirun", "--allow-run-as-root", "--hostfile", "hosts", "--map-by", "node",
                                               *pairs, "-n", str(ranks), command.TERRANE])]

    def start(self, ranks, *words, **settings):
        *agent, line = self.launcher(ranks, **settings)
        return subprocess.Popen([*agent, f"cd {self.folder} && exec {line} {shlex.join(words)}"], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def run_on(self, ranks, *words):
        process = self.start(ranks, *words)
        self.addCleanup(self.end, process)
        out, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out)
        return out

    def end(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def tables(self, folder):
        """The bytes of every table of numbers in this folder, without what heads them."""
        found = {path.name: b"\n".join(line for line in path.read_bytes().split(b"\n") if not line.startswith(b"#"))
                 for path in sorted((self.folder / folder).glob("*.csv"))}
        self.assertTrue(found, "no table was written")
        return found

    def agree(self, name, verb, *words):
        """Three ranks on two hosts write the numbers of one process."""
        with self.subTest(job=name):
            self.terrane(verb, "job.toml", "--output", f"{name}-one", *words)
            self.run_on(3, verb, "job.toml", "--output", f"{name}-two", *words)
            self.assertEqual(self.tables(f"{name}-two"), self.tables(f"{name}-one"))

    def ranks_of(self, process):
        """Numbers of the processes of the program below this one, and the host's name of each."""
        below, found = {process.pid}, {}
        for _ in range(8):
            for stat in Path("/proc").glob("[0-9]*/stat"):
                try:
                    if int(stat.read_text().rpartition(")")[2].split()[1]) in below:
                        below.add(int(stat.parent.name))
                except OSError:
                    pass
        for pid in below:
            try:
                if os.readlink(f"/proc/{pid}/exe") == command.TERRANE:
                    found[pid] = Path(f"/proc/{pid}/environ").read_text().partition("OMPI_COMM_WORLD_RANK=")[2][:1]
            except OSError:
                pass
        return found


class TwoHosts(TwoHostsTest):
    def test_GiveEveryPhysicsTheBitsOfOneRank(self):
        for physics in PHYSICS:
            (self.folder / "job.toml").unlink(missing_ok=True)
            self.terrane("new", physics, "-o", "job.toml")
            self.agree(physics, "run", "--set", 'output.files=["fields.csv"]')

    def test_GiveInversionsTheBitsOfOneRank(self):
        chargeability.Chargeability.measure(self)
        self.write("job.toml", chargeability.JOB)
        self.agree("chargeability", "invert")
        tables = ("--set", 'output.files=["fit.csv"]', "--set", 'output.model=["model.csv"]')
        for physics in ("gravity", "magnetic"):
            for name, text in memory.inversion(physics, (10, 9, 5), (7, 6)).items():
                self.write(name, text)
            self.agree(physics, "invert", *tables)
        jobs = memory.waveforms((40, 1, 30), 150)
        self.write("job.toml", jobs["first"])
        self.terrane("run", "job.toml")
        self.write("job.toml", jobs["job.toml"])
        self.agree("waveforms", "invert", "--set", 'output.model=["model.csv"]', "--set", 'output.files=["fit.npy"]')

    def test_EndTheRunOfBothWhenARankOfTheOtherIsKilled(self):
        process = self.begin()
        (victim,) = [pid for pid, rank in self.ranks_of(process).items() if rank == "1"]
        os.kill(victim, signal.SIGKILL)
        self.ends_without_a_file(process, 20)

    def test_EndTheRunOfBothWhenTheCableIsLost(self):
        process = self.begin(**HEED_CABLE)
        ranks = self.ranks_of(process)
        self.assertEqual(len(ranks), 3, ranks)
        subprocess.run(["ip", "-n", f"{self.name}-1", "link", "set", "cable", "down"], check=True)
        self.addCleanup(subprocess.run, ["ip", "-n", f"{self.name}-1", "link", "set", "cable", "up"], check=True)
        self.ends_without_a_file(process, 40)
        until = time.monotonic() + 40  # the second host finds out by itself
        while any(map(self.is_there, ranks)) and time.monotonic() < until:
            time.sleep(0.2)
        self.assertFalse([pid for pid in ranks if self.is_there(pid)], "ranks outlive the cable")

    def begin(self, **settings):
        """A long run on three ranks that has written its first checkpoint."""
        self.write("job.toml", LONG_JOB)
        process = self.start(3, "run", "job.toml", *LONGER, **settings)
        self.addCleanup(self.end, process)
        checkpoint = self.folder / "output/fields.npy.checkpoint"
        until = time.monotonic() + 60
        while not checkpoint.exists():
            self.assertIsNone(process.poll(), "the run ended before its first checkpoint")
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        return process

    def ends_without_a_file(self, process, seconds):
        process.communicate(timeout=seconds)
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse((self.folder / "output/fields.npy").exists())
        self.assertTrue((self.folder / "output/fields.npy.checkpoint").exists())

    @staticmethod
    def is_there(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False


if __name__ == "__main__":
    command.main()

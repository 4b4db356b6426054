"""What surrounds the source: workflows, forms, the draft of a paper, recipes. They run elsewhere, so here it is tested
that they can be read, and that what they call is there."""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    print("needs PyYAML: tools/setup python")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
# Words at the start of a command that are files of the repository or targets of make.
CALLED = re.compile(r"(?:^|[\s;&|\"])((?:\./)?(?:\.ci|tools|tests|packaging|benchmarks)/[\w./-]+)")
MADE = re.compile(r"(?:^|[;&|]\s*)make ([a-z-]+)", re.MULTILINE)
# Contexts that an expression may begin with, and the events that a workflow may wait for.
CONTEXTS = {"github", "env", "vars", "job", "steps", "runner", "secrets", "strategy", "matrix", "needs", "inputs"}
EVENTS = {"push", "pull_request", "workflow_dispatch", "schedule", "release"}


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def targets_of_make():
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


def faults_of_commands(text):
    """Files and targets that shell commands call and that are not there."""
    found = [f"no file {name}" for name in CALLED.findall(text) if not (ROOT / name).exists()]
    return found + [f"make has no {name}" for name in MADE.findall(text) if name not in targets_of_make()]


def faults_of_step(step, job):
    if ("run" in step) == ("uses" in step):
        yield f"a step has either run or uses: {step}"
    if unknown := set(step) - {"name", "id", "if", "run", "uses", "with", "env", "shell", "working-directory"}:
        yield f"a step has no key {unknown}"
    if "uses" in step and not re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]):
        yield f"an action without its version: {step['uses']}"
    yield from faults_of_commands(step.get("run", ""))
    if "run" in step:
        done = subprocess.run(["bash", "-n"], input=step["run"], text=True, capture_output=True)
        if done.returncode:
            yield f"bash: {done.stderr}"


def faults_of_job(job, jobs):
    if unknown := set(job) - {"if", "needs", "runs-on", "container", "timeout-minutes", "strategy", "steps",
                              "permissions", "environment", "concurrency", "env"}:
        yield f"a job has no key {unknown}"
    for needed in [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", []):
        if needed not in jobs:
            yield f"needs {needed}, which is no job"
    if "runs-on" not in job:
        yield "a job says where it runs: runs-on"
    for step in job["steps"]:
        yield from faults_of_step(step, job)


def faults_of_workflow(text):
    workflow = yaml.safe_load(text)
    on = workflow.get("on", workflow.get(True))  # YAML 1.1 reads the word on as true
    for event in on if isinstance(on, dict) else [on]:
        if event not in EVENTS:
            yield f"no event is called {event}"
    if "permissions" not in workflow:
        yield "a workflow says what it may do: permissions"
    for expression in re.findall(r"\$\{\{(.*?)\}\}", text):
        for name in re.findall(r"(?<![\w.'])([a-z]+)\.", expression):
            if name not in CONTEXTS:
                yield f"nothing is called {name} in {expression}"
    for job in workflow["jobs"].values():
        yield from faults_of_job(job, workflow["jobs"])


class Workflows(unittest.TestCase):
    def test_every_workflow_is_whole_and_calls_only_what_is_there(self):
        self.assertGreaterEqual(len(WORKFLOWS), 4)
        for path in WORKFLOWS:
            with self.subTest(path.name):
                self.assertEqual(list(faults_of_workflow(path.read_text(encoding="utf-8"))), [])

    def test_gate_wheels_docs_and_the_long_tests_have_a_workflow(self):
        commands = {step["run"] for path in WORKFLOWS for job in load(path)["jobs"].values() for step in job["steps"]
                    if "run" in step}
        for command in ("bash .ci/run", "make wheel", "tools/docs", "make test-long"):
            self.assertIn(command, commands)

    def test_faults_of_a_workflow_are_found(self):
        sound = (ROOT / ".github/workflows/gate.yml").read_text(encoding="utf-8")
        for old, new, fault in (("bash .ci/run", "bash .ci/runs", "no file .ci/runs"),
                                ("bash .ci/run", "make tset", "make has no tset"),
                                ("actions/checkout@v4", "actions/checkout", "an action without its version"),
                                ("matrix.image }}-${{", "matrx.image }}-${{", "nothing is called matrx"),
                                ("runs-on:", "run-on:", "a job has no key"),
                                ("pull_request:", "pull_requests:", "no event is called pull_requests"),
                                ("run: bash .ci/run", "run: if true; then", "bash: ")):
            with self.subTest(new):
                self.assertIn(old, sound)
                self.assertIn(fault, "\n".join(faults_of_workflow(sound.replace(old, new))))


class Forms(unittest.TestCase):
    def test_reports_of_faults_ask_for_the_job_and_for_terrane_devices(self):
        forms = {path.stem: load(path) for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")}
        for name in ("wrong_number", "crash"):
            fields = {part["id"]: part for part in forms[name]["body"] if "id" in part}
            self.assertTrue(fields["job"]["validations"]["required"])
            self.assertTrue(fields["devices"]["validations"]["required"])
            self.assertIn("`terrane devices`", fields["devices"]["attributes"]["label"])

    def test_every_form_has_what_the_host_asks_for(self):
        for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
            form = load(path)
            if path.stem == "config":
                continue
            with self.subTest(path.name):
                self.assertTrue(form["name"] and form["description"] and form["body"])
                names = [part["id"] for part in form["body"] if part["type"] != "markdown"]
                self.assertEqual(len(names), len(set(names)))
                for part in form["body"]:
                    self.assertIn(part["type"], ("markdown", "textarea", "input", "dropdown", "checkboxes"))
                    self.assertTrue(part["attributes"].get("label") or part["attributes"].get("value"))


def faults_of_paper(paper, references):
    """What the Journal of Open Source Software asks of a paper."""
    head, text = re.fullmatch(r"---\n(.*?)\n---\n(.*)", paper, flags=re.DOTALL).groups()
    head = yaml.safe_load(head)
    for key in ("title", "tags", "authors", "affiliations", "date", "bibliography"):
        if not head.get(key):
            yield f"the header has no {key}"
    numbers = {str(place["index"]) for place in head.get("affiliations") or []}
    for author in head.get("authors") or []:
        if not {number.strip() for number in str(author["affiliation"]).split(",")} <= numbers:
            yield f"{author['name']} has an affiliation that is not listed"
    sections = re.findall(r"^# (.+)$", text, flags=re.MULTILINE)
    for section in ("Summary", "Statement of need", "State of the field", "Acknowledgements", "References"):
        if section not in sections:
            yield f"there is no section {section}"
    if sections[-1:] != ["References"]:
        yield "the references come last"
    words = len(re.sub(r"\[@[^\]]*\]|^#.*$", "", text, flags=re.MULTILINE).split())
    if not 250 <= words <= 1000:
        yield f"the text has {words} words; 250 to 1000 are allowed"
    entries = re.findall(r"^@\w+\{([^,\s]+),", references, flags=re.MULTILINE)
    cited = set(re.findall(r"@([\w:-]+)", text))
    yield from (f"{key} is cited and not in the bibliography" for key in sorted(cited - set(entries)))
    yield from (f"{key} is in the bibliography and not cited" for key in sorted(set(entries) - cited))
    for entry in re.split(r"(?m)^(?=@)", references)[1:]:
        if "@article" in entry and not re.search(r"^\s*doi\s*=\s*\{10\.\d{4,}/\S+\}", entry, flags=re.MULTILINE):
            yield f"an article without its DOI: {entry.splitlines()[0]}"
        if entry.count("{") != entry.count("}"):
            yield f"braces are not closed: {entry.splitlines()[0]}"


class Paper(unittest.TestCase):
    paper = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
    references = (ROOT / "paper/paper.bib").read_text(encoding="utf-8")

    def test_the_draft_keeps_the_rules_of_the_journal(self):
        self.assertEqual(list(faults_of_paper(self.paper, self.references)), [])

    def test_the_five_papers_are_cited_here_and_in_the_citation_file(self):
        references = load(ROOT / "CITATION.cff")["references"]
        cited = {reference.get("doi", reference["title"][:40]) for reference in references}
        self.assertEqual(len(cited), 5)
        text = self.references.replace("{", "").replace("}", "").lower()
        for work in cited:
            self.assertIn(work.replace("\n", " ").lower()[:40], text)

    def test_faults_of_a_paper_are_found(self):
        for old, new, fault in (("@nagy2000", "@nagi2000", "nagi2000 is cited"),
                                ("# Statement of need", "# Needs", "no section Statement of need"),
                                ("bibliography: paper.bib", "", "no bibliography"),
                                ("affiliation: 1", "affiliation: 2", "an affiliation that is not listed"),
                                ("# Summary\n", "# Summary\n" + "word " * 900, "words; 250 to 1000")):
            with self.subTest(new[:30]):
                self.assertIn(old, self.paper)
                self.assertIn(fault, "\n".join(faults_of_paper(self.paper.replace(old, new), self.references)))


class Recipes(unittest.TestCase):
    def test_images_and_modules_call_only_what_is_there(self):
        for name in ("packaging/Containerfile", "packaging/terrane.def", ".devcontainer/Containerfile"):
            with self.subTest(name):
                text = (ROOT / name).read_text(encoding="utf-8")
                commands = re.sub(r"^(#|FROM).*$", "", text, flags=re.MULTILINE)
                self.assertEqual(faults_of_commands(commands.replace("/source/", "")), [])
                self.assertNotIn("TODO", text)

    def test_the_container_of_editors_is_json_with_comments(self):
        text = (ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8")
        container = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
        self.assertTrue((ROOT / ".devcontainer" / container["build"]["dockerfile"]).exists())
        self.assertEqual(faults_of_commands(container["postCreateCommand"]), [])

    def test_conda_and_spack_ask_for_the_libraries_that_cmake_looks_for(self):
        conda = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
        spack = (ROOT / "packaging/spack/packages/terrane/package.py").read_text(encoding="utf-8")
        load(ROOT / "packaging/conda/recipe.yaml")
        compile(spack, "package.py", "exec")
        for library in ("fmt", "tomlplusplus", "cli11", "netcdf", "hdf5", "fftw", "proj", "zlib"):
            self.assertRegex(conda, rf"(?m)^    - (lib)?{library}\b")
            self.assertRegex(spack, rf'depends_on\("{library}[-\w]*(@[\w.]+:)?"')


if __name__ == "__main__":
    unittest.main()

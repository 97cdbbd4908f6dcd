// Prints the results of the suite as a table, and compares their failures with the expected ones:
// node compare.mjs RESULTS EXPECTED REQUIREMENTS REVISION…
//
// A line of EXPECTED is `ROLE REVISION NAME REASON`: the role of Duet, a revision or `all`, a scenario or
// `SCENARIO:CHECK`, and why the failure is none of Duet. A failure without a line fails, and so does a line without
// its failure in each of its revisions, so the list says exactly what fails. REQUIREMENTS is the suite's folder with
// the scenarios of each revision; one without a result fails.
import fs from 'node:fs';
import path from 'node:path';

const [results, expectedFile, requirements, ...revisions] = process.argv.slice(2);

function readExpected() {
  const lines = fs.readFileSync(expectedFile, 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
  return lines.map((line) => {
    const [, role, revision, name, reason] = line.match(/^(\S+)\s+(\S+)\s+(\S+)\s+(.+)$/) ?? [];
    if (!reason) throw new Error(`no line of expected failures: ${line}`);
    return { role, name, revisions: revision === 'all' ? revisions : [revision], failedIn: new Set() };
  });
}

// The scenarios of a revision that concern a role: `  - NAME` below the role, and those that are not scored.
function readScenarios(role, revision) {
  const lines = fs.readFileSync(path.join(requirements, `${revision}.yaml`), 'utf8').split('\n');
  let part;
  const names = new Set();
  lines.forEach((line, at) => {
    part = line.match(/^(\w+):/)?.[1] ?? part;
    const name = line.match(/^ +- (?:scenario: )?(\S+)$/)?.[1];
    const isOfRole = part === role || (part === 'not_scored' && lines[at + 1]?.trim() === `leg: ${role}`);
    if (name && isOfRole) names.add(name);
  });
  return names;
}

// The checks of a run by scenario, from the folders that the suite writes: [server-]SCENARIO-TIME/checks.json.
function readChecks(role, revision) {
  const top = path.join(results, role, revision);
  const scenarios = new Map();
  for (const file of fs.existsSync(top) ? fs.readdirSync(top, { recursive: true }) : []) {
    if (path.basename(file) !== 'checks.json') continue;
    const folder = path.dirname(file).replace(/-\d{4}-\d\d-\d\dT[\w-]*$/, '');
    const scenario = role === 'server' ? folder.replace(/^server-/, '') : folder;
    scenarios.set(scenario, JSON.parse(fs.readFileSync(path.join(top, file), 'utf8')));
  }
  return scenarios;
}

const expected = readExpected();
const problems = [];

for (const role of ['server', 'client']) {
  for (const revision of revisions) {
    console.log(`\nDuet as ${role}, ${revision}`);
    const counts = { passed: 0, failed: 0, expected: 0 };
    const results = readChecks(role, revision);
    for (const scenario of readScenarios(role, revision)) {
      const checks = results.get(scenario);
      if (!checks) {
        problems.push(`${role} ${revision} ${scenario} has no result`);
        continue;
      }
      const judged = checks.filter((check) => ['SUCCESS', 'FAILURE'].includes(check.status));
      const failed = judged.filter((check) => check.status === 'FAILURE');
      const unexpected = failed.filter((check) => {
        const names = [scenario, `${scenario}:${check.id}`];
        const fits = expected.filter((entry) => entry.role === role && entry.revisions.includes(revision)
          && names.includes(entry.name));
        for (const entry of fits) entry.failedIn.add(revision);
        return fits.length === 0;
      });
      counts.passed += judged.length - failed.length;
      counts.failed += unexpected.length;
      counts.expected += failed.length - unexpected.length;
      const verdict = unexpected.length > 0 ? 'FAILED' : failed.length > 0 ? 'as expected' : 'passed';
      const score = `${judged.length - failed.length}/${judged.length}`;
      console.log(`  ${scenario.padEnd(48)} ${score.padStart(6)}  ${verdict}`);
      for (const check of unexpected) {
        const why = check.errorMessage ?? check.details?.message ?? check.description;
        problems.push(`${role} ${revision} ${scenario}:${check.id} ${why}`);
      }
    }
    console.log(`  checks: ${counts.passed} passed, ${counts.expected} failed as expected, ${counts.failed} failed`);
  }
}

for (const { role, name, revisions, failedIn } of expected) {
  for (const revision of revisions.filter((revision) => !failedIn.has(revision))) {
    problems.push(`${role} ${revision} ${name} is expected to fail, and does not: change its line`);
  }
}
console.log(problems.length === 0 ? '\nas expected' : `\n${problems.join('\n')}`);
process.exitCode = problems.length === 0 ? 0 : 1;

import { existsSync, readFileSync } from "node:fs"

/** The parts of vitest's JSON report that are read here. */
interface Report {
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly fullName: string
      readonly status: string
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}

// Prints every failed test with its reason, then one line with the figures, and leaves with the tests' own exit code.
const [path = "", exitCode = "1"] = process.argv.slice(2)
const report: Report = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { testResults: [] }

let passed = 0
const failures: Array<{ readonly test: string; readonly reason: string }> = []
for (const file of report.testResults) {
  const name = file.name.replace(`${process.cwd()}/`, "")
  passed += file.assertionResults.filter(({ status }) => status === "passed").length
  const failed = file.assertionResults.filter(({ status }) => status === "failed")
  for (const { failureMessages, fullName } of failed) {
    failures.push({ test: `${name}: ${fullName}`, reason: failureMessages.join("\n") })
  }
  if (file.status === "failed" && failed.length === 0) {
    failures.push({ test: `${name}: did not run`, reason: file.message })
  }
}
if (failures.length === 0 && exitCode !== "0") {
  failures.push({ test: "npm test", reason: `The test command left with code ${exitCode}; its words are above.` })
}

for (const { reason, test } of failures) console.log(`\nFAILED  ${test}\n${reason}`)
// Once more, all names together: who reads only the end of a long output sees each.
console.log()
for (const { test } of failures) console.log(`FAILED  ${test}`)
console.log(`\n${passed} passed, ${failures.length} failed`)
process.exitCode = failures.length === 0 ? 0 : 1

import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const source = new URL("./Programs.ts", import.meta.url).href
const tests = new URL("../../", import.meta.url).pathname

/**
 * Runs `provide` in a process that finds only a fake apt, which records its calls; `apt` is the last part of its
 * script.
 */
const provided = (apt: string) => {
  const folder = mkdtempSync(join(tmpdir(), "murmuration-programs-"))
  try {
    const log = join(folder, "log")
    for (const name of ["apt-get", "apt-cache"]) {
      writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $*" >> ${log}\n${apt}\n`)
      chmodSync(join(folder, name), 0o755)
    }
    const script = `import(${JSON.stringify(source)}).then(({ provide }) => console.log(provide(true) ?? ""))`
    const { stderr, stdout } = spawnSync(process.execPath, ["-e", script], {
      encoding: "utf8",
      env: { PATH: folder }
    })
    assert.strictEqual(stderr, "")
    return { printed: stdout, asked: readFileSync(log, "utf8").trim().split("\n") }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("F1: programs that the tests need besides Node", () => {
  it("are installed in one call of apt, which waits for others' locks", () => {
    const { asked } = provided("echo '  Candidate: 1.0'")
    const installing = asked.filter((line) => line.includes(" install "))
    assert.strictEqual(installing.length, 1)
    for (const name of ["redis-server", "chromium", "ffmpeg", "snac2"]) {
      assert.include(installing[0], ` ${name}`)
    }
    assert.match(installing[0] ?? "", /DPkg::Lock::Timeout=\d{3}/)
  })

  it("are reported at once if they stay missing, with apt's message", () => {
    const { printed } = provided("echo 'E: no route to the archive' >&2; exit 100")
    for (const name of ["redis-server", "Chromium", "ffmpeg", "no route to the archive"]) assert.include(printed, name)
    assert.strictEqual(printed.match(/Tests need/g)?.length, 1)
  })

  it("are installed by no other file", () => {
    const callers = readdirSync(tests, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith("Programs.test.ts"))
      .filter((name) => readFileSync(join(tests, name), "utf8").includes("\"apt-get\""))
    assert.deepStrictEqual(callers, ["support/programs/Apt.ts"])
  })
})

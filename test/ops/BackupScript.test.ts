import { assert, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const script = fileURLToPath(new URL("../../ops/systemd/backup", import.meta.url))

it("F354: the nightly backup removes old backups and dead parts, not a part that is being written", ({ onTestFinished }) => {
  const folder = mkdtempSync(join(tmpdir(), "murmuration-nightly-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const command = join(folder, "murmuration")
  writeFileSync(command, "#!/bin/sh\necho backup > \"$2\"\n")
  chmodSync(command, 0o755)
  const hour = 3_600
  const now = Math.floor(Date.now() / 1_000)
  const ages = {
    "murmuration-old.tar": 8 * 24 * hour,
    "murmuration-recent.tar": 6 * 24 * hour,
    "murmuration-killed.tar.part": 2 * hour,
    "murmuration-written.tar.part": hour / 2,
    "other.tar.part": 9 * 24 * hour
  }
  for (const [name, age] of Object.entries(ages)) {
    writeFileSync(join(folder, name), "")
    utimesSync(join(folder, name), now - age, now - age)
  }
  const { status, stderr } = spawnSync("/bin/sh", [script, folder], {
    encoding: "utf8",
    env: { PATH: `${folder}:${process.env["PATH"]}` }
  })
  assert.strictEqual(status, 0, stderr)
  const [backup, ...remaining] = readdirSync(folder).filter((name) => name !== "murmuration").toSorted()
  assert.match(backup ?? "", /^murmuration-\d{4}-\d\d-\d\dT\d{6}Z\.tar$/)
  assert.deepStrictEqual(remaining, ["murmuration-recent.tar", "murmuration-written.tar.part", "other.tar.part"])
})

import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { activityTypes } from "../../src/services/federation/documents/ActivityTypes.ts"

const root = new URL("../../", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), "utf8")

/** Returns the first cells of the table of inbound activities. */
const documented = () => {
  const [, after = ""] = read("docs/wire/federation.md").split("| Activity | Effect |")
  const [table = ""] = after.trim().split("\n\n")
  return table.split("\n").map((line) => line.split("|")[1] ?? "").join("\n")
}

const missingIn = (text: string) => activityTypes.filter((type) => !new RegExp(`\\b${type}\\b`).test(text))

describe("each type of inbound activity", () => {
  it("is in the table of docs/wire/federation.md", () => {
    assert.deepStrictEqual(missingIn(documented()), [])
  })

  it("is in FEDERATION.md", () => {
    assert.deepStrictEqual(missingIn(read("FEDERATION.md")), [])
  })
})

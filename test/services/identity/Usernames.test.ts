import { assert, describe, it } from "@effect/vitest"
import { isReserved, isValid } from "../../../src/services/identity/Usernames.ts"

describe("names of local accounts", () => {
  it.each<[string, boolean]>([
    ["alice", true],
    ["Alice_1", true],
    ["1", true],
    ["", false],
    ["al-ice", false],
    ["al.ice", false],
    ["alíce", false],
    ["alice\n", false],
    ["аlice", false]
  ])("%j is valid: %s", (username, expected) => assert.strictEqual(isValid(username), expected))

  it.each<[string, boolean]>([
    ["admin", true],
    ["ADMIN", true],
    ["adm1n", true],
    ["admln", true],
    ["ad_min_", true],
    ["r00t", true],
    ["5upport", true],
    ["administrators", false],
    ["admirer", false],
    ["modern", false]
  ])("%j is reserved: %s", (username, expected) => assert.strictEqual(isReserved(username), expected))
})

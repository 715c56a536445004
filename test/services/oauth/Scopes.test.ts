import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Scopes from "../../../src/services/oauth/Scopes.ts"

const grants = (have: string, ...needAny: ReadonlyArray<string>) => Scopes.grants(new Set(Scopes.parse(have)), needAny)

describe("S-244 the tree of scopes", () => {
  it("has 13 scopes for reading, 14 for writing, and the others", () => {
    assert.strictEqual(Scopes.all.filter((scope) => scope.startsWith("read:")).length, 12)
    assert.strictEqual(Scopes.all.filter((scope) => scope.startsWith("write:")).length, 14)
    assert.strictEqual(Scopes.all.filter((scope) => scope.startsWith("admin:")).length, 16)
    assert.isFalse(Scopes.areKnown(["admin"]))
    assert.isFalse(Scopes.areKnown(["read", "read:everything"]))
    assert.isTrue(Scopes.areKnown(["profile", "follow", "push", "crypto"]))
  })

  it("a parent includes its children, a child neither parent nor sibling", () => {
    assert.isTrue(grants("read", "read:statuses"))
    assert.isTrue(grants("write", "write:bookmarks"))
    assert.isTrue(grants("admin:read", "admin:read:ip_blocks"))
    assert.isFalse(grants("read:statuses", "read"))
    assert.isFalse(grants("read:statuses", "read:accounts"))
    assert.isFalse(grants("read", "write:statuses", "admin:read:accounts"))
    assert.isFalse(grants("read write", "admin:read"))
    assert.isFalse(grants("", "read"))
  })

  it("follow includes reading and writing of follows, blocks and mutes, and nothing else", () => {
    const included = Scopes.all.filter((scope) => scope !== "follow" && grants("follow", scope))
    assert.sameMembers(included, [
      "read:blocks",
      "write:blocks",
      "read:follows",
      "write:follows",
      "read:mutes",
      "write:mutes"
    ])
  })

  it("S-245 push is granted by push alone", () => {
    assert.isTrue(grants("push", "push"))
    assert.isFalse(grants("read write follow profile crypto admin:read admin:write", "push"))
  })

  it("S-246 lists are read with read and changed with write", () => {
    assert.isTrue(grants("read:lists", "read", "read:lists"))
    assert.isTrue(grants("write", "write", "write:lists"))
    assert.isFalse(grants("read", "write", "write:lists"))
  })

  it("S-248 the profile is not part of read, nor read of the profile", () => {
    assert.isFalse(grants("read", "profile"))
    assert.isFalse(grants("profile", "read", "read:accounts"))
  })
})

const Some = Schema.Array(Schema.Literals(Scopes.all))

describe("scopes that an app may request", () => {
  it("are a literal part of the registered ones", () => {
    assert.isTrue(Scopes.withinRegistered(["read", "write:media"], ["write:media"]))
    assert.isFalse(Scopes.withinRegistered(["read"], ["read:accounts"]))
    assert.isFalse(Scopes.withinRegistered(["read:accounts"], ["read"]))
    assert.isFalse(Scopes.withinRegistered(["read"], []))
  })

  it.prop("row 69: requested scopes beyond the registration are not granted", [Some, Some, Some], (
    [registered, wanted, needed]
  ) => {
    if (!Scopes.withinRegistered(registered, wanted)) return
    if (Scopes.grants(new Set(wanted), needed)) assert.isTrue(Scopes.grants(new Set(registered), needed))
  })

  it.prop("is written and parsed back", [Some], ([scopes]) => {
    assert.deepStrictEqual(Scopes.parse(Scopes.format(scopes)), [...new Set(scopes)])
  })
})

import { assert, it } from "@effect/vitest"
import { hash } from "node:crypto"
import { isDigestOf } from "../../../../src/services/federation/signatures/Digests.ts"

const body = new Uint8Array(1_048_576).fill(7)
const members = (["sha256", "sha512"] as const).map((name) => `SHA-${name.slice(3)}=${hash(name, body, "base64")}`)

/** Returns the shortest of a few durations, in milliseconds; asserts that the digest is valid each time. */
const shortest = (header: string) =>
  Math.min(...Array.from({ length: 5 }, () => {
    const began = performance.now()
    assert.isTrue(isDigestOf(header, body))
    return performance.now() - began
  }))

it("row 40: a body is hashed once for each kind of digest, however often a header names it", () => {
  const once = shortest(members.join())
  assert.isBelow(shortest(Array.from({ length: 100 }, () => members.join()).join()), 10 * once)
  const wrong = `SHA-256=${hash("sha256", "x", "base64")}`
  for (const header of [`${members.join()},${wrong}`, `${wrong},${members.join()}`, wrong, "", "md5=x"]) {
    assert.isFalse(isDigestOf(header, body), header)
  }
})

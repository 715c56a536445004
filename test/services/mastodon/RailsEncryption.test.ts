import { assert, describe, it } from "@effect/vitest"
import { decrypter } from "../../../src/services/mastodon/RailsEncryption.ts"
import { sealed } from "../../support/mastodon/Server.ts"

const decrypt = decrypter({ primaryKey: "primary key of a test", salt: "salt of a test" })
const long = "-----BEGIN PRIVATE KEY-----\n".padEnd(1_700, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC")

describe("texts encrypted by Rails", () => {
  it("are decrypted, deflated or not, with the key of either digest", () => {
    for (const text of ["JBSWY3DPEHPK3PXP", long, ""]) {
      for (const digest of ["sha256", "sha1"] as const) assert.strictEqual(decrypt(sealed(text, digest)), text)
    }
  })

  it("are undefined with another key, and for anything else", () => {
    const whole = sealed("JBSWY3DPEHPK3PXP")
    assert.isUndefined(decrypt(sealed("JBSWY3DPEHPK3PXP", "sha256", "another key")))
    const read = JSON.parse(whole)
    for (
      const text of [
        "",
        "null",
        "[]",
        "{}",
        "-----BEGIN",
        whole.slice(1),
        JSON.stringify({ p: 1, h: {} }),
        JSON.stringify({ p: read.p, h: {} }),
        JSON.stringify({ p: read.p, h: { iv: "", at: "" } }),
        JSON.stringify({ ...read, p: "AAAA" }),
        JSON.stringify({ ...read, h: { ...read.h, c: true } }),
        JSON.stringify({ ...read, h: { ...read.h, at: read.h.at.slice(0, 4) } })
      ]
    ) assert.isUndefined(decrypt(text), text)
  })

  it("are not inflated beyond the size of a key", () => {
    assert.isUndefined(decrypt(sealed("x".repeat(1_000_000))))
  })
})

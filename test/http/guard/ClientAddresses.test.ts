import { assert, describe, it } from "@effect/vitest"
import { addressKey } from "../../../src/http/guard/ClientAddresses.ts"

describe("keys of addresses for limits", () => {
  it("IPv4 as itself, however it is written", () => {
    for (
      const address of ["192.0.2.7", "::ffff:192.0.2.7", "::FFFF:192.0.2.7", "::ffff:c000:207", "64:ff9b::192.0.2.7"]
    ) {
      assert.strictEqual(addressKey(address), "192.0.2.7")
    }
  })

  it("IPv6 as its /64, however it is written", () => {
    const written = ["2001:db8:0:7::", "2001:DB8::7:0:0:0:9", "2001:db8:0:7:ffff:ffff:ffff:ffff", "2001:0db8:0:0007::1"]
    assert.deepStrictEqual(new Set(written.map(addressKey)), new Set(["2001:db8:0:7::/64"]))
    assert.notStrictEqual(addressKey("2001:db8:0:8::"), addressKey("2001:db8:0:7::"))
    assert.strictEqual(addressKey("fe80::1%eth0"), addressKey("fe80::2%eth1"))
    assert.strictEqual(addressKey("::1"), "::/64")
  })

  it("any other text counts as itself", () => {
    for (const text of ["unknown", ":::", "abc:def"]) assert.strictEqual(addressKey(text), text)
  })
})

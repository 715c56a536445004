import { assert, describe, it } from "@effect/vitest"
import { normalizeDomain, parseHandle } from "../../../src/services/federation/DomainNames.ts"

const normal: ReadonlyArray<readonly [given: string, stored: string]> = [
  ["example.com", "example.com"],
  ["EXAMPLE.com", "example.com"],
  ["Example.COM:8443", "example.com:8443"],
  ["example.com:443", "example.com"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["BÜCHER.example", "xn--bcher-kva.example"],
  ["xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["ｅｘａｍｐｌｅ.com", "example.com"],
  ["example。com", "example.com"],
  ["example．com", "example.com"],
  ["a.b.c.d.example", "a.b.c.d.example"],
  ["127.0.0.1:3001", "127.0.0.1:3001"],
  ["0x7f.1", "127.0.0.1"],
  ["[::1]:3001", "[::1]:3001"],
  ["localhost:3001", "localhost:3001"],
  ["my-server.example", "my-server.example"]
]

const none = [
  "",
  " ",
  "exa/mple.com",
  "example.com/",
  "example.com/x",
  "/example.com",
  "example.com\\x",
  "example.com?",
  "example.com?x",
  "example.com#",
  "example.com#x",
  "user@example.com",
  "user:pw@example.com",
  "@example.com",
  "example.com.",
  "example.com.:80",
  "EXAMPLE.com.",
  "exam ple.com",
  "example.com ",
  " example.com",
  "example.com\n",
  "exa\tmple.com",
  "example.com:99999",
  "example.com:x",
  "example.com:-1",
  "exa%6dple.com",
  "example.com%00",
  "%65xample.com",
  "[::1",
  "::1",
  "[::1]x",
  "example",
  "com",
  "..",
  ".",
  "-",
  "a..b",
  "xn--a",
  "https://example.com",
  "exa<mple.com",
  "exa|mple.com",
  "exa^mple.com",
  "256.1.1.1",
  "1.2.3.4.5",
  `${"a".repeat(250)}.example.com`
]

describe("row 13: domains", () => {
  for (const [given, stored] of normal) {
    it(`${given} is ${stored}`, () => assert.strictEqual(normalizeDomain(given), stored))
  }
  for (const given of none) {
    it(`${JSON.stringify(given.slice(0, 40))} is invalid`, () => assert.isUndefined(normalizeDomain(given)))
  }

  it("handles have a name and a domain", () => {
    for (const text of ["anna@Example.com", "@anna@example.com", "acct:anna@example.com", " anna@example.com "]) {
      assert.deepStrictEqual(parseHandle(text), { username: "anna", domain: "example.com" })
    }
    for (
      const text of [
        "anna",
        "@anna",
        "anna@",
        "@@example.com",
        "a b@example.com",
        "anna@exa/mple.com",
        "a@b@example.com"
      ]
    ) {
      assert.isUndefined(parseHandle(text), text)
    }
  })
})

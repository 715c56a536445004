import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { IpNetwork } from "effect/net"
import { destination, urlCharactersMax } from "../../../src/services/outbound/Destinations.ts"

const loopback = [IpNetwork.fromStringUnsafe("127.0.0.0/8")]

const outcome = (url: string, allowed: ReadonlyArray<IpNetwork.IpNetwork> = []) =>
  Result.match(destination(allowed, url), { onSuccess: ({ href }) => href, onFailure: ({ rule }) => rule })

describe("row 14: addresses that must not be requested", () => {
  for (
    const url of [
      "http://example.org/",
      "javascript:alert(1)",
      "data:application/activity+json,{}",
      "file:///etc/passwd",
      "gopher://example.org/",
      "ftp://example.org/",
      "ws://example.org/",
      "blob:https://example.org/1"
    ]
  ) {
    it(`refuses the scheme of ${url}`, () => assert.strictEqual(outcome(url), "scheme"))
  }

  it("refuses users, ports of other protocols, invalid URLs and too long ones", () => {
    assert.strictEqual(outcome("https://user@example.org/"), "userinfo")
    assert.strictEqual(outcome("https://:secret@example.org/"), "userinfo")
    for (const port of [22, 25, 110, 587, 6667]) {
      assert.strictEqual(outcome(`https://example.org:${port}/`), "port")
    }
    assert.strictEqual(outcome("//example.org/"), "host")
    assert.strictEqual(outcome("https://"), "host")
    assert.strictEqual(outcome(`https://example.org/${"a".repeat(urlCharactersMax)}`), "size")
  })

  it("F75: refuses addresses of private networks, also with TLS, unless the operator allows them", () => {
    for (const host of ["10.0.0.1", "127.1", "[::1]", "[fd00::1]", "169.254.169.254", "localhost", "a.localhost"]) {
      assert.strictEqual(outcome(`https://${host}/`), "address", host)
    }
    assert.strictEqual(outcome("https://127.0.0.1/", loopback), "https://127.0.0.1/")
    assert.strictEqual(outcome("https://localhost/", loopback), "https://localhost/")
    assert.strictEqual(outcome("https://192.0.78.1/"), "https://192.0.78.1/")
  })

  it("accepts any other https address, without its fragment", () => {
    assert.strictEqual(outcome("https://Example.org:443/a?b#c"), "https://example.org/a?b")
    assert.strictEqual(outcome("https://example.org:8443/"), "https://example.org:8443/")
  })
})

describe("OUTBOUND_ALLOW lifts the https rule", () => {
  it("for hosts inside it, and names whose address decides later", () => {
    assert.strictEqual(outcome("http://127.0.0.1:3001/", loopback), "http://127.0.0.1:3001/")
    assert.strictEqual(outcome("http://localhost:3001/", loopback), "http://localhost:3001/")
    assert.strictEqual(outcome("http://lab.test/", loopback), "http://lab.test/")
  })

  it("for nothing else", () => {
    assert.strictEqual(outcome("http://8.8.8.8/", loopback), "scheme")
    assert.strictEqual(outcome("http://10.0.0.1/", loopback), "scheme")
    assert.strictEqual(outcome("http://[::1]/", loopback), "scheme")
    assert.strictEqual(outcome("http://localhost/", [IpNetwork.fromStringUnsafe("10.0.0.0/8")]), "scheme")
    assert.strictEqual(outcome("http://user@127.0.0.1/", loopback), "userinfo")
    assert.strictEqual(outcome("ftp://127.0.0.1/", loopback), "scheme")
  })
})

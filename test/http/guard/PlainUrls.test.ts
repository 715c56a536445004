import { assert, describe, it } from "@effect/vitest"
import { isHandshake } from "../../../src/http/guard/Handshake.ts"
import { plainUrl } from "../../../src/http/guard/PlainUrls.ts"

describe("F106: one form of a request's URL", () => {
  it.each([
    ["/", "/"],
    ["*", "*"],
    ["", "/"],
    ["/api/v1/accounts?x=%61;#//", "/api/v1/accounts?x=%61;#//"],
    ["/%61pi/v1/%41%2d%2e%5F%7e", "/api/v1/A-._~"],
    ["/tags/%E3%81%82%20%2f%3A", "/tags/%E3%81%82%20%2f%3A"],
    ["/%2561", "/%2561"],
    ["/%%361/%61", "/%%361/%61"],
    ["/%6/%61", "/%6/%61"],
    ["/a;b/c#d?e;f", "/a%3Bb/c%23d?e;f"],
    ["//users///ada//inbox/", "/users/ada/inbox/"],
    ["http://a.example", "/"],
    ["http://a.example?x", "/?x"],
    ["HTTPS://u:p@a.example:1/%61?http://b", "/a?http://b"],
    ["/x?y=http://a.example//b", "/x?y=http://a.example//b"]
  ])("%s is %s", (url, expected) => {
    assert.strictEqual(plainUrl(url), expected)
    assert.strictEqual(plainUrl(expected), expected)
  })

  it.each([
    ["/search?q=a%00b", "/search?q=ab"],
    ["/tags/%00?q=%00", "/tags/%EF%BF%BD?q="],
    ["/@a%00b", "/@a%EF%BF%BDb"],
    ["/x?q=%0%000", "/x?q="],
    ["/api/v2/search?q=%00", "/api/v2/search?q=%00"]
  ])("F245: null bytes reach no page: %s is %s", (url, expected) => assert.strictEqual(plainUrl(url), expected))

  it("F181: an escaped @ begins the path of a profile as a literal one does", () => {
    assert.strictEqual(plainUrl("/%40alice/%40x?q=%40"), "/@alice/@x?q=%40")
  })

  it.each([
    "/api/v1/streaming",
    "/api/v1/%73treaming",
    "/api//v1/streaming/user",
    "http://a.example/api/v1/streaming?x",
    "HTTP://a.example:1/api/v1/x/../%73treaming"
  ])("F130: Node sees a handshake at %s", (url) => {
    const headers = { upgrade: "websocket", "sec-websocket-key": "x" }
    assert.isTrue(isHandshake({ method: "GET", url, headers }))
    assert.isFalse(isHandshake({ method: "GET", url: url.replace("treaming", "treaming;x"), headers }))
    assert.isFalse(isHandshake({ method: "GET", url, headers: {} }))
  })
})

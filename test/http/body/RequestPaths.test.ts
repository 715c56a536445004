import { assert, describe, it } from "@effect/vitest"
import { normalise } from "../../../src/http/body/RequestPaths.ts"

describe("row 74: one form of a client's path", () => {
  it.each([
    ["/api/v1/accounts.json", "/api/v1/accounts"],
    ["/api/v1/accounts/", "/api/v1/accounts"],
    ["//api//v1///accounts//", "/api/v1/accounts"],
    ["/api/v1/accounts/1.json/", "/api/v1/accounts/1"],
    ["/oauth/token.json", "/oauth/token"],
    ["/api/openapi.json", "/api/openapi.json"],
    ["/API/v1/accounts", "/API/v1/accounts"],
    ["/users/alice//inbox/", "/users/alice//inbox/"],
    ["/apis//x", "/apis//x"],
    ["/", "/"]
  ])("%s is %s", (path, expected) => assert.strictEqual(normalise(path), expected))
})

import { assert, describe, it } from "@effect/vitest"
import { isRegistered } from "../../../src/services/oauth/RedirectUris.ts"

describe("F94: redirect URIs (row 71)", () => {
  it.each<[registered: string, used: string]>([
    ["http://127.0.0.1/cb", "http://127.0.0.1:51234/cb"],
    ["http://127.0.0.1:4000/cb", "http://127.0.0.1:51234/cb"],
    ["http://[::1]/cb", "http://[::1]:51234/cb"],
    ["https://app.example", "https://app.example/"],
    ["https://app.example/", "https://app.example"],
    ["https://App.example/cb", "https://app.example/cb"],
    ["app.example:/cb", "app.example:/cb"]
  ])("%s is registered by %s", (registered, used) => assert.isTrue(isRegistered([registered], used)))

  it.each<[registered: string, used: string]>([
    ["http://127.0.0.1/cb", "http://127.0.0.1:5/other"],
    ["http://127.0.0.1/cb", "http://127.0.0.2:5/cb"],
    ["http://127.0.0.1/cb", "https://127.0.0.1:5/cb"],
    ["http://localhost/cb", "http://localhost:5/cb"],
    ["https://app.example/cb", "https://app.example:8443/cb"],
    ["https://app.example/cb", "https://app.example/CB"],
    ["https://app.example/cb", "https://app.example/cb/"],
    ["https://app.example/cb", "https://app.example/cb?x=1"],
    ["https://app.example/cb", "http://app.example/cb"],
    ["https://app.example", "https://app.example.evil"],
    ["https://app.example", "https://app.example@evil.example"],
    ["https://app.example", "https://user@app.example"],
    ["https://app.example", "https://app.example\\@evil.example"],
    ["https://app.example", "https:app.example/x"],
    ["https://app.example", "https://app.example#x"],
    ["https://app.example", "https://app.example//"],
    ["http://127.0.0.1/cb", "http://127.0.0.1:5@evil.example/cb"],
    ["http://127.0.0.1/cb", "http://2130706433:5/cb"],
    ["App.example:/cb", "app.example:/cb"],
    ["https://app.example/cb", "HTTPS://app.example/cb"],
    ["https://app.example/a", "https://app.example/b/../a"]
  ])("%s is not registered by %s", (registered, used) => assert.isFalse(isRegistered([registered], used)))
})

import { assert, describe, it } from "@effect/vitest"
import { isRegistered, problemsOf, split } from "../../../src/services/oauth/RedirectUris.ts"
import * as Scopes from "../../../src/services/oauth/Scopes.ts"
import { best, fill } from "../../support/MachineSpeed.ts"

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

describe("F447: an app with too many redirect URIs or scopes", () => {
  it("is refused without checking each", () => {
    const many = fill("a:b ", 1_000_000)
    const read = () => [problemsOf(split([many, many])), Scopes.parse(many)]
    assert.isBelow(best(read, 25), 50)
    assert.deepStrictEqual(problemsOf(split([many])), ["Redirect URI is too long (maximum is 2000 characters)"])
  })

  it("may have as many as fit", () => {
    assert.deepStrictEqual(split([" a:b\n c:d ", "", "e:f"]), ["a:b", "c:d", "e:f"])
    assert.deepStrictEqual(problemsOf(split(["a:b ".repeat(500)])), [])
    assert.deepStrictEqual(problemsOf([]), ["Redirect URI can't be blank"])
    assert.deepStrictEqual(Scopes.parse(`  ${Scopes.all.join(" ")}\n`), Scopes.all)
  })
})

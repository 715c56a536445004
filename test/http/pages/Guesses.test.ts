import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"

import { Limits } from "../../../src/http/guard/Limits.ts"
import * as PasswordHashing from "../../../src/layers/PasswordHashing.ts"

import * as TestBrowser from "../../support/TestBrowser.ts"

import { password, user } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"
import { signInForm } from "./SignInForm.ts"

layer(server({}, { limits: Limits.layerMemory }), { excludeTestServices: true })("row 75: guesses", (it) => {
  it.effect("25 sign-ins in 5 minutes from one address, including the right password", () =>
    Effect.gen(function*() {
      yield* user("wanda")
      const browser = TestBrowser.make()
      const form = yield* signInForm(browser)
      const guess = (body: Record<string, string>) =>
        browser.request("/auth/sign_in", {
          method: "POST",
          body: new URLSearchParams({ ...form, ...body }),
          headers: { origin: "https://local.example" }
        })
      const statuses = yield* Effect.forEach(
        Array.from({ length: 25 }),
        (_, i) =>
          Effect.map(guess({ email: `guess${i}@mail.example`, password: "guess guess" }), ({ status }) => status)
      )
      assert.deepStrictEqual(new Set(statuses), new Set([422]))
      const refused = yield* guess({ email: "wanda@mail.example", password })
      assert.strictEqual(refused.status, 429)
      assert.include(refused.text, "Too many attempts")
      assert.strictEqual(refused.headers.get("x-ratelimit-remaining"), "0")
      const letters = yield* Effect.forEach(
        Array.from({ length: 6 }),
        () =>
          Effect.map(
            browser.request("/auth/password", {
              method: "POST",
              body: new URLSearchParams({ ...form, email: "Wanda@mail.example" }),
              headers: { origin: "https://local.example" }
            }),
            ({ status }) => status
          )
      )
      assert.deepStrictEqual(letters, [200, 200, 200, 200, 200, 429])
    }))

  it.effect("F11: an invalid address has no counter, and spellings of an address share one", () =>
    Effect.gen(function*() {
      const browser = TestBrowser.make()
      const form = yield* signInForm(browser)
      const requestReset = (email: string) =>
        Effect.map(
          browser.request("/auth/confirmation", {
            method: "POST",
            body: new URLSearchParams({ ...form, email }),
            headers: { origin: "https://local.example" }
          }),
          ({ status }) => status
        )
      for (const email of ["", "nobody", `${"a".repeat(60_000)}@mail.example`]) {
        const statuses = yield* Effect.replicateEffect(requestReset(email), 6)
        assert.deepStrictEqual(new Set(statuses), new Set([200]), email.slice(0, 20))
      }
    }))
})

const argon2 = PasswordHashing.layer.pipe(Layer.provide(NodeCrypto.layer))

layer(server({}, { credentials: argon2 }), { excludeTestServices: true })("row 77: unknown users", (it) => {
  it.effect("get the response of a wrong password, at the same cost", () =>
    Effect.gen(function*() {
      yield* user("xaver")
      const browser = TestBrowser.make()
      const page = yield* browser.get("/auth/sign_in")
      const attempt = (email: string) => browser.submit(page, { email, password: "not the password" })
      const normal = (text: string, email: string) =>
        text.replaceAll(email, "").replaceAll(
          /name="authenticity_token" value="[^"]*"|&quot;challenge&quot;:&quot;[^&]*/g,
          ""
        )
      const [known, unknown] = ["xaver@mail.example", "nobody@mail.example"]
      const [first, second] = [yield* attempt(known), yield* attempt(unknown)]
      assert.strictEqual(first.status, second.status)
      assert.strictEqual(normal(first.text, known), normal(second.text, unknown))
      // CPU time, including hashing threads; other processes on this machine do not count.
      const cost = Effect.fnUntraced(function*(email: string) {
        const start = process.cpuUsage()
        yield* attempt(email)
        const { system, user } = process.cpuUsage(start)
        return user + system
      })
      const pairs = yield* Effect.replicateEffect(Effect.all([cost(known), cost(unknown)]), 12)
      const median = (index: 0 | 1) => pairs.map((pair) => pair[index]).toSorted((a, b) => a - b)[6]!
      const ratio = median(0) / median(1)
      assert.isAbove(ratio, 0.5)
      assert.isBelow(ratio, 2)
    }))
})

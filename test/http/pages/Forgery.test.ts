import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"

import { get } from "../../support/Requests.ts"
import { client, password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { formsOf } from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"
import { signInForm } from "./SignInForm.ts"

describe("row 72: forms of other pages", () => {
  layer(server(), { excludeTestServices: true })((it) => {
    it.effect("are refused on every cookie route, with any other content", () =>
      Effect.gen(function*() {
        yield* user("tina")
        const app = yield* client("read")
        const victim = TestBrowser.make()
        yield* victim.signIn("tina")
        const attacker = TestBrowser.make()
        const foreign = yield* signInForm(attacker)
        const own = formsOf(yield* victim.get("/oauth/authorized_applications"))[0]?.fields["authenticity_token"] ?? ""
        const request = { response_type: "code", client_id: app.clientId, redirect_uri: app.redirectUri }
        const routes: ReadonlyArray<[method: string, path: string, fields: Record<string, string>]> = [
          ["POST", "/auth/sign_in", { email: "tina@mail.example", password }],
          ["POST", "/auth/sign_out", {}],
          ["DELETE", "/auth/sign_out", {}],
          ["POST", "/auth/password", { email: "tina@mail.example" }],
          ["POST", "/auth/password/edit", { reset_password_token: "x", password }],
          ["POST", "/auth/confirmation", { email: "tina@mail.example" }],
          ["POST", "/oauth/authorize", request],
          ["DELETE", "/oauth/authorize", request],
          ["POST", "/oauth/authorized_applications/1", {}],
          ["DELETE", "/oauth/authorized_applications/1", {}]
        ]
        const attempts: ReadonlyArray<[string, Record<string, string>, token: string]> = [
          ["another site, without a token", { origin: "https://evil.test" }, ""],
          [
            "another site, with the attacker's token",
            { origin: "https://evil.test" },
            foreign["authenticity_token"] ?? ""
          ],
          ["another site, with the right token", { origin: "https://evil.test" }, own],
          ["a sandboxed frame, with the right token", { origin: "null" }, own],
          ["a neighbour in the domain", { origin: "https://sub.local.example" }, own],
          ["http in place of https", { origin: "http://local.example" }, own],
          ["no origin, but a site that is not ours", { "sec-fetch-site": "cross-site" }, own],
          [
            "our page, with the attacker's token",
            { origin: "https://local.example" },
            foreign["authenticity_token"] ?? ""
          ],
          ["our page, without a token", { origin: "https://local.example" }, ""]
        ]
        for (const [method, path, fields] of routes) {
          for (const [who, headers, token] of attempts) {
            const body = new URLSearchParams({ ...fields, authenticity_token: token })
            const response = yield* victim.request(path, { method, body, headers })
            assert.strictEqual(response.status, 403, `${method} ${path} by ${who}`)
            assert.include(response.text, "This form is no longer valid")
          }
        }
        assert.include((yield* victim.get("/settings/account")).text, "@tina")
      }))

    it.effect("a token of another session, or of none, is invalid in this session", () =>
      Effect.gen(function*() {
        yield* user("ulla")
        const browser = TestBrowser.make()
        const before = yield* browser.get("/auth/sign_in")
        yield* browser.signIn("ulla", before)
        assert.strictEqual((yield* browser.signIn("ulla", before)).status, 403)
      }))

    it.effect("bearer routes accept no cookies, and cookie routes no bearer tokens", () =>
      Effect.gen(function*() {
        yield* user("vera")
        const browser = TestBrowser.make()
        yield* browser.signIn("vera")
        assert.strictEqual((yield* browser.get("/oauth/userinfo")).status, 401)
        assert.strictEqual((yield* browser.get("/api/v1/emails/check_confirmation")).status, 401)
        const bearer = browser.cookies.get("__Host-session") ?? ""
        assert.strictEqual((yield* get("/oauth/authorized_applications", bearer)).status, 302)
        assert.strictEqual((yield* get("/oauth/userinfo", bearer)).status, 401)
      }))
  })
})

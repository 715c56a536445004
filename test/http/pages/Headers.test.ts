import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { formTarget } from "../../../src/services/oauth/RedirectUris.ts"
import { client, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

const policy = (formAction: string, script = "") =>
  `default-src 'none'; style-src 'self'; img-src 'self'; ${script}manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'; ` +
  `form-action ${formAction}`

const common = {
  "cache-control": "private, no-store",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

/** Headers of a page with a code or a hidden field besides the token: it must not be compressed (BREACH). */
const unchanged = { "cache-control": "private, no-store, no-transform" }

const relevant = (headers: Headers) =>
  Object.fromEntries(
    [...headers].filter(([name]) =>
      !["date", "connection", "keep-alive", "content-length", "transfer-encoding", "x-request-id"].includes(name)
    )
  )

const authorize = (app: Effect.Success<ReturnType<typeof client>>, more: Record<string, string> = {}) =>
  `/oauth/authorize?${new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    ...more
  })}`

layer(server(), { excludeTestServices: true })("row 54: headers", (it) => {
  it.effect("of every page, byte for byte", () =>
    Effect.gen(function*() {
      yield* user("hedy")
      const browser = TestBrowser.make()
      const app = yield* client("read", "myapp://back")
      yield* browser.get("/auth/sign_in")
      yield* browser.signIn("hedy")
      const html = {
        ...common,
        "content-type": "text/html; charset=utf-8",
        "content-language": "en",
        vary: "Accept-Language",
        "content-security-policy": policy("'self'")
      }
      const pages = [
        "/auth/password/new",
        "/auth/password/edit?reset_password_token=x",
        "/auth/confirmation/new",
        "/auth/confirmation?confirmation_token=x",
        "/oauth/authorized_applications",
        "/oauth/authorize",
        "/oauth/authorize/native?code=x",
        "/auth/sign_in?force_login=true"
      ]
      const plain = new Set([
        "/auth/password/new",
        "/auth/confirmation/new",
        "/auth/password/edit?reset_password_token=x",
        "/auth/confirmation?confirmation_token=x",
        "/oauth/authorize"
      ])
      // A page in the frame of the web client, which has its own scripts.
      const framed = {
        ...html,
        vary: "Accept, Accept-Language, Cookie",
        "content-security-policy":
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; " +
          "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
      }
      for (const page of pages) {
        const expected = page === "/oauth/authorized_applications"
          ? framed
          : plain.has(page)
          ? html
          : page.startsWith("/auth/sign_in")
          ? { ...html, ...unchanged, "content-security-policy": policy("'self'", "script-src 'self'; ") }
          : { ...html, ...unchanged }
        assert.deepStrictEqual(relevant((yield* browser.get(page)).headers), expected, page)
      }
      const consent = yield* browser.get(authorize(app))
      assert.deepStrictEqual(relevant(consent.headers), {
        ...html,
        ...unchanged,
        "content-security-policy": policy("'self' myapp:")
      })
      const response = yield* browser.submit(consent)
      const location = response.headers.get("location") ?? ""
      assert.match(location, /^myapp:\/\/back\?code=[\w-]{43}$/)
      assert.deepStrictEqual(relevant(response.headers), { ...common, location })
    }))

  it.effect("of cookies: HttpOnly, SameSite, Secure, for this host alone", () =>
    Effect.gen(function*() {
      yield* user("ines")
      const browser = TestBrowser.make()
      const page = yield* browser.get("/auth/sign_in")
      const value = (set: string) => set.replace(/=[\w-]{43}/, "=SECRET")
      assert.deepStrictEqual(page.headers.getSetCookie().map(value), [
        "__Host-form=SECRET; Path=/; HttpOnly; Secure; SameSite=Lax"
      ])
      assert.deepStrictEqual((yield* browser.get("/auth/sign_in")).headers.getSetCookie(), [])
      const signedIn = yield* browser.signIn("ines", page)
      assert.deepStrictEqual(signedIn.headers.getSetCookie().map(value), [
        "__Host-session=SECRET; Max-Age=31536000; Path=/; HttpOnly; Secure; SameSite=Lax"
      ])
    }))

  it.effect("a form may lead to the requesting app, all the way from the sign-in page, and nowhere else", () =>
    Effect.gen(function*() {
      yield* user("jule")
      const browser = TestBrowser.make()
      const app = yield* client("read", "https://app.example:8443/back?x=1")
      const policyOf = (page: TestBrowser.Page) => page.headers.get("content-security-policy")
      const redirect = yield* browser.get(authorize(app))
      const signIn = yield* browser.get(redirect.headers.get("location") ?? "")
      assert.strictEqual(policyOf(signIn), policy("'self' https://app.example:8443", "script-src 'self'; "))
      const consent = yield* browser.get((yield* browser.signIn("jule", signIn)).headers.get("location") ?? "")
      assert.strictEqual(policyOf(consent), policy("'self' https://app.example:8443"))
      const foreign = authorize({ ...app, redirectUri: "https://evil.test/" })
      const other = yield* TestBrowser.make().get(`/auth/sign_in?${new URLSearchParams({ return_to: foreign })}`)
      assert.strictEqual(policyOf(other), policy("'self'", "script-src 'self'; "))
    }))

  it.each([
    ["https://app.example/back", "https://app.example"],
    ["http://localhost:8080/", "http://localhost:8080"],
    ["http://[::1]:8080/", "http:"],
    ["com.example.app:/oauth", "com.example.app:"],
    ["my+app-1.x://y; script-src *", undefined],
    ["urn:ietf:wg:oauth:2.0:oob", undefined],
    ["javascript:alert(1)", undefined]
  ])("the policy's source for %s is %s", (uri, expected) => assert.strictEqual(formTarget(uri), expected))
})

layer(server({ publicUrl: "http://localhost:3000" }), { excludeTestServices: true })("row 54: without https", (it) => {
  it.effect("cookies have no Secure, which the browser would not send back", () =>
    Effect.gen(function*() {
      const page = yield* TestBrowser.make().get("/auth/sign_in")
      assert.match(page.headers.getSetCookie()[0] ?? "", /^form=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
    }))
})

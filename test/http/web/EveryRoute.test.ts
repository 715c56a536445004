import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publicUrl } from "../../support/Reads.ts"
import { RouteTable } from "../../support/RouteTable.ts"
import { user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"

/** Routes without cookies: authorized by a bearer token, a signature, or a secret in the link. */
const withoutCookies = [
  /^\/api\//,
  /^\/oauth\/(?:token|revoke|introspect)$/,
  /inbox$/,
  // One-click unsubscribe in a mail program (RFC 8058).
  /^\/unsubscribe(?:\/emails)?$/
]

/** Returns a path of the route with values for its parameters. */
const pathOf = (route: string) =>
  route.replace(/^\w+ /, "").replaceAll(/:name/g, "rita").replaceAll(/:\w+/g, "1").replace("*", "nowhere")

const routesOf = (methods: RegExp) =>
  Effect.map(RouteTable, (table) =>
    [...new Set(table)].filter((route) => methods.test(route)).map((route) => ({
      method: route.slice(0, route.indexOf(" ")),
      path: pathOf(route)
    })).filter(({ path }) => withoutCookies.every((open) => !open.test(path))).toSorted((a, b) =>
      a.path.localeCompare(b.path)
    ))

/** Signs in as the owner, who has every permission. */
const owner = Effect.fnUntraced(function*(name: string) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* user(name)
  yield* sql`UPDATE users SET role_id = 3 WHERE account_id = ${id}`
  const browser = TestBrowser.make({ origin: publicUrl })
  yield* browser.signIn(name)
  return browser
})

layer(server(), { excludeTestServices: true })("every route that browsers use", (it) => {
  it.effect("F226: changes nothing by a form without its token, of another session, or from another site", () =>
    Effect.gen(function*() {
      const routes = yield* routesOf(/^(?:POST|PUT|PATCH|DELETE) /)
      assert.isAbove(routes.length, 100)
      const browser = yield* owner("rita")
      const other = yield* owner("sara")
      const page = yield* browser.get("/settings/account")
      const [form] = TestBrowser.formsOf(page)
      const token = form?.fields["authenticity_token"] ?? ""
      const [theirs] = TestBrowser.formsOf(yield* other.get("/settings/account"))
      const attempts = [
        ["without a token", { origin: publicUrl }, ""],
        ["with the token of another session", { origin: publicUrl }, theirs?.fields["authenticity_token"] ?? ""],
        ["from another site", { origin: "https://evil.example" }, token]
      ] as const
      const passed: Array<string> = []
      for (const { method, path } of routes) {
        for (const [how, headers, authenticity_token] of attempts) {
          const body = new URLSearchParams({ authenticity_token, act: "delete", confirmed: "yes" })
          const response = yield* browser.request(path, { method, body, headers })
          const refused = response.status === 403 && response.text.includes("This form is no longer valid")
          // The composer keeps the text.
          const keepsText = path.startsWith("/web/compose") && response.text.includes(`action="/web/compose`)
          if (!refused && !keepsText) passed.push(`${method} ${path} ${how}: ${response.status}`)
        }
      }
      assert.deepStrictEqual(passed, [])
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(yield* sql`SELECT FROM statuses`, 0)
    }))

  it.effect("F410: answers a browser's form by a redirect, so that it can go back and reload", () =>
    Effect.gen(function*() {
      const routes = yield* routesOf(/^POST /)
      assert.isAbove(routes.length, 90)
      const [direct, stored]: [Array<string>, Array<string>] = [[], []]
      const member = yield* owner("walter")
      for (const who of ["visitor", "member"]) {
        for (const { path } of routes) {
          if (path === "/auth/sign_out") continue
          const browser = who === "member" ? member : TestBrowser.make()
          const [form] = TestBrowser.formsOf(yield* browser.get(who === "member" ? "/home" : "/auth/sign_in"))
          const body = new URLSearchParams({ ...form?.fields, act: "nothing", text: "", email: "none" })
          const headers = { origin: publicUrl, "sec-fetch-mode": "navigate", accept: "text/html" }
          const { headers: sent, status } = yield* browser.request(path, { method: "POST", body, headers })
          const isPage = sent.get("content-type")?.startsWith("text/html") === true
          if (isPage && (status < 300 || status > 399)) direct.push(`${path} for a ${who}: ${status}`)
          if (sent.get("location")?.startsWith("/web/form_pages/") === true) stored.push(`${path} for a ${who}`)
        }
      }
      assert.deepStrictEqual(direct, [])
      assert.isAbove(stored.length, 60)
    }))

  it.effect("F226: cannot be framed, names no foreign source, and is not cached for signed-in users", () =>
    Effect.gen(function*() {
      const routes = yield* routesOf(/^GET /)
      assert.isAbove(routes.length, 150)
      const member = yield* owner("tara")
      const visitor = TestBrowser.make()
      const wrong: Array<string> = []
      let pages = 0
      for (const { path } of routes) {
        for (const [who, browser] of [["visitor", visitor], ["member", member]] as const) {
          if (path === "/sw.js" || path.startsWith("/web/stream")) continue
          const response = yield* browser.request(path, { headers: { accept: "text/html" } })
          const { headers } = response
          const name = `${path} for a ${who}: ${response.status}`
          if (response.status >= 500) wrong.push(name)
          const cached = /public|max-age=[1-9]/.test(headers.get("cache-control") ?? "")
          if (cached && headers.getSetCookie().length > 0) wrong.push(`${name} is cached with a cookie`)
          if (!(headers.get("content-type") ?? "").startsWith("text/html")) continue
          pages++
          const policy = headers.get("content-security-policy") ?? ""
          const mayBeFramed = path.endsWith("/embed") && response.status === 200
          if (!mayBeFramed && headers.get("x-frame-options") !== "DENY") wrong.push(`${name} has no X-Frame-Options`)
          if (!mayBeFramed && !policy.includes("frame-ancestors 'none'")) wrong.push(`${name} may be framed`)
          if (!policy.startsWith("default-src 'none'")) wrong.push(`${name} has no policy`)
          if (/unsafe-(?:inline|eval)/.test(policy)) wrong.push(`${name} allows inline code`)
          if (headers.get("x-content-type-options") !== "nosniff") wrong.push(`${name} may be sniffed`)
          if (cached && who === "member") wrong.push(`${name} is cached`)
          if (cached && !(headers.get("vary") ?? "").includes("Cookie")) wrong.push(`${name} is shared with members`)
          if (cached && response.text.includes("authenticity_token")) wrong.push(`${name} is cached with a form`)
        }
      }
      assert.isAbove(pages, 150)
      assert.deepStrictEqual(wrong, [])
    }))

  it.effect("F395: is no server error with parameters that no id or name has", () =>
    Effect.gen(function*() {
      const patterns = [...new Set(yield* RouteTable)].filter((route) =>
        /^GET .*:/.test(route) && withoutCookies.every((open) => !open.test(pathOf(route)))
      )
      assert.isAbove(patterns.length, 50)
      const browser = yield* owner("nora")
      const odd = ["%00", "a%00b", "9".repeat(40), "-1", "%F0%9F%90%A6", "a".repeat(2_000)]
      const failed: Array<string> = []
      for (const pattern of patterns) {
        for (const value of odd) {
          const path = pattern.replace(/^\w+ /, "").replaceAll(/:\w+/g, value)
          const { status } = yield* browser.request(path, { headers: { accept: "text/html" } })
          if (status >= 500) failed.push(`${pattern} ${value.slice(0, 10)}: ${status}`)
        }
      }
      assert.deepStrictEqual(failed, [])
    }))

  it.effect("leads back to this server only", () =>
    Effect.gen(function*() {
      const browser = yield* owner("uma")
      const page = yield* browser.get("/home")
      const token = /name="authenticity_token" value="([^"]*)"/.exec(page.text)?.[1] ?? ""
      const targets = [
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "／／evil.example",
        "/／evil.example/",
        "/%0d%0aLocation: https://evil.example",
        "/\r\nLocation: https://evil.example",
        "/\t/evil.example",
        "/home\u0000//evil.example",
        "data:text/html,x",
        " //evil.example",
        "/".repeat(5_000),
        ""
      ]
      const isOurs = (location: string) => new URL(location, publicUrl).origin === publicUrl
      for (const target of targets) {
        const body = new URLSearchParams({ authenticity_token: token, act: "nothing", return: target })
        const act = yield* browser.request("/web/statuses/1", { method: "POST", body, headers: { origin: publicUrl } })
        assert.isTrue(isOurs(act.headers.get("location") ?? "/"), `return=${JSON.stringify(target)}`)
        const stranger = TestBrowser.make({ origin: publicUrl })
        const form = yield* stranger.get(`/auth/sign_in?${new URLSearchParams({ return_to: target })}`)
        assert.strictEqual(form.status, 200)
        const signedIn = yield* stranger.signIn("uma", form)
        assert.strictEqual(signedIn.status, 302)
        assert.isTrue(isOurs(signedIn.headers.get("location") ?? ""), `return_to=${JSON.stringify(target)}`)
        const again = yield* browser.get(`/auth/sign_in?${new URLSearchParams({ return_to: target })}`)
        assert.isTrue(isOurs(again.headers.get("location") ?? "/"), `return_to=${JSON.stringify(target)}, signed in`)
      }
    }))

  it.effect("accepts no session chosen by others, and creates a new one for each sign-in", () =>
    Effect.gen(function*() {
      const victim = TestBrowser.make({ origin: publicUrl })
      yield* user("vera")
      yield* victim.get("/auth/sign_in")
      const chosen = "A".repeat(43)
      victim.cookies.set("__Host-session", chosen)
      yield* victim.signIn("vera", yield* victim.get("/auth/sign_in"))
      const first = victim.cookies.get("__Host-session")
      assert.notStrictEqual(first, chosen)
      const attacker = TestBrowser.make({ origin: publicUrl })
      attacker.cookies.set("__Host-session", chosen)
      assert.strictEqual((yield* attacker.get("/home")).status, 302)
      yield* victim.signIn("vera", yield* victim.get("/auth/sign_in?force_login=true"))
      const second = victim.cookies.get("__Host-session")
      assert.notStrictEqual(second, first)
      // The earlier session has ended.
      attacker.cookies.set("__Host-session", first ?? "")
      assert.strictEqual((yield* attacker.get("/home")).status, 302)
      yield* victim.submit(yield* victim.get("/home"), {}, TestBrowser.formsOf(yield* victim.get("/home")).length - 1)
      attacker.cookies.set("__Host-session", second ?? "")
      assert.strictEqual((yield* attacker.get("/home")).status, 302)
    }))
})

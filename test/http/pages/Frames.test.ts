import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { ask, settled } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { eventually } from "../../support/Eventually.ts"
import type { Reply } from "../../support/Requests.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

const browsing = { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" }
const title = "The Reading Room"

const paths = ["/about", "/privacy-policy", "/terms-of-service", "/terms-of-service/2024-01-31", "/nowhere", "/health"]

/** Returns the content of the page header. */
const headerOf = ({ text }: Reply) => /<header[^>]*>(.*?)<\/header>/s.exec(text)?.[1] ?? ""

layer(TestServer.layer(), { excludeTestServices: true })("frames of pages", (it) => {
  it.effect("F225: public pages have the web client's navigation and the server's title, and know who is signed in", () =>
    Effect.gen(function*() {
      const { createPerson, variables } = yield* TestServer
      assert.strictEqual((yield* cli(["instance", "set", "--title", title], variables)).code, 0)
      yield* Effect.forEach(
        [["2024-01-31", "Old"], ["2025-01-31", "Current"], ["2090-01-31", "Later"]] as const,
        ([since, text]) => termsOf(since, `${text} terms.`),
        { discard: true }
      )
      const [ada, bob] = [yield* createPerson("ada"), yield* createPerson("bob")]
      yield* ask(bob, "POST", "/api/v1/statuses", { status: "@ada hello" })
      yield* settled
      const visitor = yield* staffBrowser()
      const member = yield* staffBrowser(ada)
      for (const path of paths) {
        for (const browser of [visitor, member]) {
          const page = yield* browser.request(path, { headers: browsing })
          assert.strictEqual(page.status, path === "/nowhere" ? 404 : 200, path)
          assert.include(headerOf(page), title, path)
          assert.lengthOf(page.text.match(/<h1/g) ?? [], 1, path)
          assert.include(page.text, `<nav class="side"`, path)
          assert.include(page.text, `<main id="content"`, path)
          assert.match(page.headers.get("cache-control") ?? "", /^private, no-store/, path)
          assert.include(page.headers.get("vary") ?? "", "Cookie", path)
          assert.strictEqual(page.text.includes("/auth/sign_in"), browser === visitor, `${path}: sign in`)
          assert.strictEqual(page.text.includes("unread-count"), browser === member, `${path}: unread`)
        }
      }
      assert.strictEqual(visitor.cookies.size, 0)
      // Settings pages outside the web client also count unread notifications.
      for (const path of ["/invites", "/settings/account", "/settings/two_factor_authentication"]) {
        const page = yield* member.get(path)
        assert.include(page.text, "unread-count", path)
        assert.include(headerOf(page), title, path)
      }
      for (const path of ["/auth/sign_in", "/auth/sign_up", "/auth/password/new"]) {
        assert.include(headerOf(yield* visitor.get(path)), title, path)
      }
      const health = yield* visitor.request("/health", { headers: { accept: "*/*" } })
      assert.strictEqual(health.text, "OK")
    }))

  it.effect("F264: /health is a page without a frame while the database fails or does not respond", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const browser = yield* staffBrowser(yield* createPerson("dora"))
      const isPlain = Effect.map(browser.request("/health", { headers: browsing }), (page) => {
        assert.strictEqual(page.status, 200)
        assert.include(page.text, "is running")
        assert.notInclude(page.text, "<nav")
        assert.strictEqual(page.headers.get("cache-control"), "private, no-store")
      })
      yield* sql.withTransaction(Effect.andThen(sql`LOCK TABLE sessions`, isPlain))
      yield* sql`ALTER TABLE sessions RENAME TO moved_sessions`
      const isRefused = Effect.map(browser.request("/home", { headers: browsing }), (page) => {
        assert.deepStrictEqual([page.status, page.headers.get("retry-after")], [503, "5"])
        assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
        assert.include(page.text, "<h1")
      })
      yield* Effect.ensuring(
        Effect.andThen(isPlain, isRefused),
        Effect.orDie(sql`ALTER TABLE moved_sessions RENAME TO sessions`)
      )
      assert.include((yield* browser.request("/health", { headers: browsing })).text, "<nav")
    }))

  it.effect("F264: a page that is refused because of too many requests has Retry-After", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const { body } = yield* ask(yield* createPerson("emil"), "POST", "/api/v1/statuses", { status: "hello" })
      const browser = yield* staffBrowser()
      const locked = yield* Deferred.make<void>()
      const refused = yield* Deferred.make<void>()
      const read = browser.request(`/@emil/${body.id}`, { headers: browsing }).pipe(
        Effect.tap((page) => page.status === 200 ? Effect.void : Deferred.succeed(refused, undefined))
      )
      // Forked here, so that the requests do not run in the transaction with the lock.
      const readers = yield* Effect.forkChild(
        Effect.andThen(Deferred.await(locked), Effect.all(Array.from({ length: 24 }, () => read), { concurrency: 24 }))
      )
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`LOCK TABLE statuses`
        yield* Deferred.succeed(locked, undefined)
        // Statements keep the transaction from being idle.
        yield* eventually(sql`SELECT`, () => Deferred.isDoneUnsafe(refused))
      }))
      for (const page of yield* Fiber.join(readers)) {
        if (page.status === 200) continue
        assert.deepStrictEqual([page.status, page.headers.get("retry-after")], [503, "5"])
        assert.include(page.text, "There was a temporary problem")
      }
    }))

  it.effect("F225: terms link their other versions, and say which one replaces them", () =>
    Effect.gen(function*() {
      yield* Effect.forEach(
        [["2024-01-31", "Old"], ["2025-01-31", "Current"], ["2090-01-31", "Later"]] as const,
        ([since, text]) => termsOf(since, `${text} terms.`),
        { discard: true }
      )
      const browser = yield* staffBrowser()
      const current = yield* browser.get("/terms-of-service")
      assert.include(current.text, "Current terms.")
      assert.include(current.text, `Replaced on <a href="/terms-of-service/2090-01-31">`)
      const old = yield* browser.get("/terms-of-service/2024-01-31")
      assert.include(old.text, "Old terms.")
      assert.include(old.text, `href="/terms-of-service/2025-01-31"`)
      for (const day of ["2023-01-31", "31-01-2024", "%00", "2024-01-31T00:00"]) {
        assert.strictEqual((yield* browser.get(`/terms-of-service/${day}`)).status, 404, day)
      }
    }))

  it.effect("F225: errors are pages for browsers on every path but the API's", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const browser = yield* staffBrowser(yield* createPerson("cleo"))
      const files = new FormData()
      files.set("avatar", new Blob([new Uint8Array(18 * 1_048_576)]), "large.png")
      for (
        const [path, body, text] of [
          ["/web/settings/profile", files, "Die Dateien sind zu groß"],
          ["/auth/sign_in", new URLSearchParams({ email: "x".repeat(70_000) }), "Die Anfrage ist zu groß"]
        ] as const
      ) {
        const headers = { ...browsing, origin: baseUrl, "accept-language": "de" }
        const refused = yield* browser.request(path, { method: "POST", body, headers })
        assert.strictEqual(refused.status, 413, path)
        assert.include(refused.text, text, path)
        assert.include(refused.text, `<html lang="de">`, path)
      }
      const forbidden = yield* browser.request("/media_proxy/1/original", { headers: browsing })
      assert.strictEqual(forbidden.status, 404)
      assert.include(forbidden.text, "<h1>Page not found</h1>")
      const unknown = yield* browser.request("/api/v1/nothing", { headers: browsing })
      assert.strictEqual(unknown.status, 404)
      const program = yield* browser.request("/media_proxy/1/original", { headers: { accept: "application/json" } })
      assert.match(program.headers.get("content-type") ?? "", /^application\/json/)
    }))
})

/** Publishes terms of service that take effect on a date. */
const termsOf = Effect.fnUntraced(function*(since: string, text: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO document_versions (id, kind, html, notice, effective_on, published_at)
    VALUES (next_id(0), 'terms_of_service', ${`<p>${text}</p>`}, '', ${since}, ${new Date(0)})
    ON CONFLICT (kind, effective_on) DO NOTHING`
})

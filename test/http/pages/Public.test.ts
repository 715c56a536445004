import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { softwareVersion } from "../../../src/services/instance/Software.ts"
import { payloads } from "../../services/html/payloads.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { get, type Reply } from "../../support/Requests.ts"
import { user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { server } from "../../support/WebServer.ts"
import { problems } from "./strictPage.ts"

/** Policies of pages without scripts, and of pages of the web client. */
const policies = [
  "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
]

/** Checks a page's status and headers, and that its markup has only what our pages use. */
const checked = (page: Reply, expected = 200) => {
  assert.strictEqual(page.status, expected, page.text.slice(0, 300))
  assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
  assert.include(policies, page.headers.get("content-security-policy"))
  // Forms for members are our own.
  const text = page.text.includes("/auth/sign_out")
    ? page.text.replaceAll(/<form method="post" action="\/(?:auth|web)\/[^]*?<\/form>/g, "")
    : page.text
  assert.deepStrictEqual(problems(text), [])
  return page.text
}

const visibilities = ["public", "unlisted", "private", "direct"] as const

layer(server(), { excludeTestServices: true })("pages for everybody", (it) => {
  it.effect("the front page, about and the privacy policy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const without = checked(yield* get("/"))
      assert.include(without, "Murmuration")
      // F3: the source's address is not configured, so none is shown.
      assert.include(without, `<li>Murmuration ${softwareVersion} is free software</li>`)
      assert.include(checked(yield* get("/privacy-policy")), "has not published one yet")
      yield* sql`INSERT INTO settings (name, value, updated_at) VALUES ('site_title', '"Star & lings"', ${now}),
        ('site_extended_description', '"<p>About <b>birds</b></p><script>x</script>"', ${now})`
      yield* sql`INSERT INTO document_versions (id, kind, html, effective_on, published_at)
        VALUES (1, 'privacy_policy', '<p>No data</p>', '2026-01-01', ${now})`
      yield* sql`INSERT INTO rules (id, text) VALUES (1, 'Be <kind>')`
      const front = checked(yield* get("/"))
      assert.include(front, "Star &amp; lings")
      assert.include(front, "Be &lt;kind&gt;")
      assert.include(front, `href="/api/docs"`)
      assert.include(checked(yield* get("/about")), "<p>About <b>birds</b></p>")
      assert.include(checked(yield* get("/privacy-policy")), "<p>No data</p>")
    }))

  it.effect("row 55: a page shows a quoted post if it is public and its author agreed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const [zoe, max] = [yield* person("zoe"), yield* person("max")]
      const quote = Effect.fnUntraced(function*(name: string, quoted: bigint, state: string) {
        const html = `<p class="quote-inline">RE: <a href="https://x.example/">x</a></p><p>${name}</p>`
        const id = yield* status(zoe, name, { html })
        yield* sql`INSERT INTO quotes (status_id, account_id, quoted_status_id, quoted_account_id, state, created_at)
          VALUES (${id}, ${zoe}, ${quoted}, ${max}, ${state}, ${now})`
        return Effect.map(get(`/@zoe/${id}`), (page) => checked(page))
      })
      const [open, secret, gone] = [
        yield* status(max, "open-words"),
        yield* status(max, "secret-words", { visibility: "private" }),
        yield* status(max, "gone-words")
      ]
      const shown = yield* yield* quote("first", open, "accepted")
      assert.match(shown, /<blockquote class="quoted">[^]*open-words[^]*<\/blockquote>/)
      assert.notInclude(shown, "quote-inline")
      assert.include(yield* yield* quote("second", open, "pending"), "quote-inline")
      assert.notInclude(yield* yield* quote("third", open, "revoked"), "open-words")
      assert.notInclude(yield* yield* quote("fourth", secret, "accepted"), "secret-words")
      const last = yield* quote("fifth", gone, "accepted")
      yield* sql`UPDATE statuses SET deleted_at = ${now} WHERE id = ${gone}`
      assert.notInclude(yield* last, "gone-words")
      assert.include(checked(yield* get("/@zoe")), "open-words")
    }))

  it.effect("row 55: a profile shows public content only", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const [anna, ben] = [yield* person("anna"), yield* person("ben")]
      yield* sql`UPDATE accounts SET display_name = 'Anna & co', note_html = '<p>I <em>write</em></p>',
        fields = '[{"name":"Site","value":"x","html":"<a href=\\"https://x.example/\\">x</a>","verifiedAt":null}]' WHERE id = ${anna}`
      for (const visibility of visibilities) yield* status(anna, `of-anna-${visibility}`, { visibility })
      const hidden = yield* status(ben, "of-ben-private", { visibility: "private" })
      yield* status(anna, "", { reblogOf: hidden })
      const shown = yield* status(ben, "of-ben-public")
      yield* status(anna, "", { reblogOf: shown })
      const deleted = yield* status(anna, "of-anna-deleted")
      yield* sql`UPDATE statuses SET deleted_at = ${now} WHERE id = ${deleted}`
      const pinned = yield* status(anna, "of-anna-pinned-private", { visibility: "private" })
      yield* sql`INSERT INTO status_pins (account_id, status_id, id) VALUES (${anna}, ${pinned}, 1)`
      yield* status(anna, "reply", { inReplyTo: shown })

      const text = checked(yield* get("/@Anna"))
      for (
        const expected of ["Anna &amp; co", "<em>write</em>", "of-anna-public", "of-anna-unlisted", "of-ben-public"]
      ) {
        assert.include(text, expected)
      }
      for (const secret of ["of-anna-private", "of-anna-direct", "of-ben-private", "of-anna-deleted", "pinned"]) {
        assert.notInclude(text, secret)
      }
    }))

  it.effect("row 55: only public posts have a page, and only under their author's name", () =>
    Effect.gen(function*() {
      const [cleo, dora] = [yield* person("cleo"), yield* person("dora")]
      for (const visibility of visibilities) {
        const id = yield* status(cleo, `by-cleo-${visibility}`, { visibility })
        const open = visibility === "public" || visibility === "unlisted"
        const page = yield* get(`/@cleo/${id}`)
        const text = checked(page, open ? 200 : 404)
        assert.strictEqual(text.includes(`by-cleo-${visibility}`), open)
        checked(yield* get(`/@dora/${id}`), 404)
      }
      const root = yield* status(dora, "the-root")
      const reply = yield* status(cleo, "the-reply", { inReplyTo: root })
      yield* status(dora, "a-secret-answer", { inReplyTo: reply, visibility: "direct" })
      yield* status(dora, "an-open-answer", { inReplyTo: reply })
      const [, thread = ""] = checked(yield* get(`/@cleo/${reply}`)).split("</h1>")
      assert.isBelow(thread.indexOf("the-root"), thread.indexOf("the-reply"))
      assert.isBelow(thread.indexOf("the-reply"), thread.indexOf("an-open-answer"))
      assert.notInclude(thread, "a-secret-answer")
      for (const path of ["/@cleo/1", "/@cleo/abc", `/@cleo/${"9".repeat(19)}`, `/@nobody/${reply}`]) {
        checked(yield* get(path), 404)
      }
    }))

  it.effect("row 57: a hidden page looks like a missing one", () =>
    Effect.gen(function*() {
      const erik = yield* person("erik")
      const hidden = yield* get(`/@erik/${yield* status(erik, "x", { visibility: "private" })}`)
      const missing = yield* get("/@erik/1")
      // The sign-in link leads back to the address.
      const same = (page: Reply) => [page.status, page.text.replaceAll(/erik%2F\d+/g, "erik")]
      assert.deepStrictEqual(same(hidden), same(missing))
    }))

  it.effect("S-282 S-045: 404 for unknown accounts, 410 for suspended ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const frida = yield* person("frida")
      const post = yield* status(frida, "of-frida")
      yield* sql`UPDATE accounts SET suspended_at = ${now} WHERE id = ${frida}`
      const waiting = yield* person("gerda")
      yield* sql`UPDATE users SET confirmed_at = NULL WHERE account_id = ${waiting}`
      yield* sql`INSERT INTO accounts (id, username, domain, created_at, updated_at) VALUES (5, 'far', 'far.example', ${now}, ${now})`
      checked(yield* get("/@frida"), 410)
      checked(yield* get(`/@frida/${post}`), 404)
      for (const name of ["nobody", "gerda", "far@far.example", "a%20b", "%00", "..%2f..%2fetc"]) {
        checked(yield* get(`/@${name}`), 404)
      }
    }))

  it.effect("row 60: hidden follower counts are not shown", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const hanna = yield* person("hanna")
      yield* sql`UPDATE account_stats SET followers_count = 4711 WHERE account_id = ${hanna}`
      assert.include(checked(yield* get("/@hanna")), "4,711 followers")
      // Another account, because views of accounts are cached.
      const hugo = yield* person("hugo")
      yield* sql`UPDATE account_stats SET followers_count = 4711 WHERE account_id = ${hugo}`
      yield* sql`UPDATE accounts SET hide_collections = true WHERE id = ${hugo}`
      assert.notInclude(checked(yield* get("/@hugo")), "4,711")
    }))

  it.effect("older posts are on the next page", () =>
    Effect.gen(function*() {
      const ida = yield* person("ida")
      for (let post = 0; post < 25; post++) yield* status(ida, `number-${post}-`)
      const first = checked(yield* get("/@ida"))
      assert.include(first, "number-24-")
      assert.notInclude(first, "number-4-")
      const [, next = ""] = /href="(\/@ida\?max_id=\d+)"/.exec(first) ?? []
      const second = checked(yield* get(next))
      assert.include(second, "number-4-")
      assert.notInclude(second, "number-5-")
      assert.notInclude(second, "max_id=")
    }))

  it.effect("a hashtag's page shows public posts only", () =>
    Effect.gen(function*() {
      const jana = yield* person("jana")
      for (const visibility of visibilities) yield* status(jana, `tagged-${visibility}`, { visibility, tag: "birds" })
      const text = checked(yield* get("/tags/Birds"))
      assert.include(text, "tagged-public")
      for (const hidden of ["tagged-unlisted", "tagged-private", "tagged-direct"]) assert.notInclude(text, hidden)
      assert.include(checked(yield* get("/tags/unused")), "There are no public posts")
      checked(yield* get("/tags/a%20b"), 404)
    }))

  it.effect("row 41: no payload in any field becomes mark-up", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const karl = yield* person("karl")
      const batch = 12
      for (let at = 0; at < payloads.length; at += batch) {
        const some = payloads.slice(at, at + batch).map((payload) => payload.replaceAll("\0", "\ufffd"))
        const all = some.join(" ")
        yield* sql`DELETE FROM status_stats WHERE status_id IN (SELECT id FROM statuses WHERE account_id = ${karl})`
        yield* sql`DELETE FROM statuses WHERE account_id = ${karl}`
        const fields = JSON.stringify([{ name: all, value: all, html: all, verifiedAt: null }])
        yield* sql`UPDATE accounts SET display_name = ${all}, note_html = ${all}, fields = ${fields}::jsonb,
          avatar_description = ${all}, header_description = ${all} WHERE id = ${karl}`
        for (const payload of some) yield* status(karl, payload, { html: payload, spoilerText: payload })
        yield* sql`UPDATE statuses SET language = ${some[0] ?? ""} WHERE account_id = ${karl}`
        checked(yield* get("/@karl"))
        const [last] = yield* sql<{ id: bigint }>`SELECT max(id) AS id FROM statuses WHERE account_id = ${karl}`
        checked(yield* get(`/@karl/${last!.id}`))
      }
    }))

  it.effect("row 14: a link of a remote author is never a script", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* sql`INSERT INTO accounts (id, username, domain, url, created_at, updated_at)
        VALUES (6, 'eve', 'evil.test', 'javascript:alert(1)', ${now}, ${now})`
      const lena = yield* person("lena")
      const post = yield* status(6n as AccountId, "of-eve")
      yield* sql`UPDATE statuses SET local = false, url = 'javascript:alert(2)' WHERE id = ${post}`
      yield* status(lena, "", { reblogOf: post })
      const text = checked(yield* get("/@lena"))
      assert.include(text, "of-eve")
      assert.notInclude(text, "javascript:")
    }))
})

for (const config of [{ limitedFederation: true }, { publicTimelines: "members" }] as const) {
  const restricted = "limitedFederation" in config
  layer(server(config), { excludeTestServices: true })(`pages, ${restricted ? "restricted" : "for members"}`, (it) => {
    it.effect("row 68 S-249: visitors see only public content; signed-in users see the rest", () =>
      Effect.gen(function*() {
        const mona = yield* user("mona")
        const post = yield* status(mona, "of-mona", { tag: "birds" })
        const browser = TestBrowser.make()
        const closed = restricted ? ["/@mona", `/@mona/${post}`, "/tags/birds"] : ["/tags/birds"]
        for (const path of closed) {
          const text = checked(yield* browser.get(path), 401)
          assert.notInclude(text, "of-mona")
          assert.include(text, "/auth/sign_in")
        }
        for (const path of ["/", "/about", "/privacy-policy"]) checked(yield* browser.get(path))
        yield* browser.signIn("mona")
        for (const path of closed) assert.include(checked(yield* browser.get(path)), "of-mona")
      }))
  })
}

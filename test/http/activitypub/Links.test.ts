import { assert, layer } from "@effect/vitest"
import { Array, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onlyLink, relMe } from "../../../src/services/html/Links.ts"
import { json, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import type { Person } from "../../support/Server.ts"
import { TestServer } from "../../support/Server.ts"
import { found, there } from "./InboxCalls.ts"
import { deliverFrom, OtherServer, servers } from "./Sending.ts"

/** Serves a page on the other server; returns its URL. */
const page = (path: string, html: string, status = 200) =>
  OtherServer.use(({ documents, url }) =>
    Effect.sync(() => {
      documents.set(path, (_, response) => response.writeHead(status, { "content-type": "text/html" }).end(html))
      return url + path
    })
  )
/** Waits until no link is left to check, without the pause before pages of remote profiles. */
const looked = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const hastened = sql`UPDATE errands SET due_at = ${new Date()} WHERE kind = 'links' AND tries = 0`
  const waiting = Effect.andThen(hastened, sql`SELECT FROM errands WHERE tries < 2`)
  yield* eventually(waiting, (rows) => rows.length === 0)
})
const fieldsOf = (account: { fields: ReadonlyArray<{ name: string; verified_at: string | null }> }) =>
  account.fields.flatMap(({ name, verified_at }) => verified_at === null ? [] : [name])
const saves = Effect.fnUntraced(function*(by: Person, links: Record<string, string>) {
  const fields = Object.entries(links).map(([name, value]) => ({ name, value }))
  yield* json(by, "/api/v1/accounts/update_credentials", { fields_attributes: fields }, "PATCH")
  yield* looked
  return fieldsOf(yield* json(by, "/api/v1/accounts/verify_credentials"))
})
const anchor = (href: string, rel = "me", text = href) => `<a href="${href}" rel="${rel}">${text}</a>`

layer(servers, { excludeTestServices: true })("links of profiles", (it) => {
  it.effect(
    "row 15: a link is verified if its page links back to the profile, by the whole address",
    () =>
      Effect.gen(function*() {
        const [anna, { baseUrl }] = [yield* newPerson("anna"), yield* TestServer]
        const me = `${baseUrl}/@anna`
        const good = yield* page("/good", `<p>hi</p>${anchor("https://x.test")}<A REL="nofollow ME" HREF="${me}">x</A>`)
        const head = yield* page("/head", `<html><head><link rel="me" href="${me}"></head></html>`)
        assert.deepStrictEqual(yield* saves(anna, { good, head, none: "https:// no", text: `see ${good}` }), [
          "good",
          "head"
        ])
        const bad = [
          anchor(me, "friend"),
          anchor(`${me}a`),
          anchor(`${me}/`),
          anchor(`${me}?x`),
          anchor(`${me}#x`),
          anchor("/@anna"),
          anchor(me.replace("http://", "http://anna@")),
          anchor(`https://evil.test/?${me}`),
          `<!-- ${anchor(me)} --><script>'${anchor(me)}'</script>`,
          `&lt;a href="${me}" rel="me"&gt;`
        ]
        // A profile has four fields, and its links are checked a second after each save.
        const pages = yield* Effect.forEach(bad, (html, n) =>
          Effect.map(page(`/bad${n}`, html), (url) => [`bad${n}`, url]))
        for (const some of Array.chunksOf(pages, 3)) {
          assert.deepStrictEqual(yield* saves(anna, { good, ...Object.fromEntries(some) }), ["good"])
        }
        const longName = yield* page("/userinfo", anchor(me))
        assert.isEmpty(yield* saves(anna, { bad: longName.replace("http://", "http://anna.example@") }))
        assert.deepStrictEqual(yield* saves(anna, { again: good }), ["again"])
      })
  )

  it.effect("a verified link stays verified while it exists; an unavailable page is retried later", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ben, { baseUrl }, { documents }] = [yield* newPerson("ben"), yield* TestServer, yield* OtherServer]
      const first = yield* page("/stays", anchor(`${baseUrl}/@ben`))
      assert.deepStrictEqual(yield* saves(ben, { first }), ["first"])
      documents.delete("/stays")
      assert.deepStrictEqual(yield* saves(ben, { first, more: "text" }), ["first"])
      const away = yield* page("/away", "", 503)
      yield* json(
        ben,
        "/api/v1/accounts/update_credentials",
        { fields_attributes: [{ name: "a", value: away }] },
        "PATCH"
      )
      yield* eventually(sql`SELECT FROM errands WHERE tries = 1`, (rows) => rows.length === 1)
      yield* page("/away", anchor(`${baseUrl}/@ben`))
      yield* sql`UPDATE errands SET due_at = ${new Date()}`
      yield* eventually(sql`SELECT FROM errands`, (rows) => rows.length === 0)
      assert.deepStrictEqual(fieldsOf(yield* json(ben, "/api/v1/accounts/verify_credentials")), ["a"])
    }))

  it.effect("row 15: links of remote profiles are also verified, if the shown address is the target", () =>
    Effect.gen(function*() {
      const [cleo, { url }] = [yield* newPerson("cleo"), yield* OtherServer]
      const own = `${url}/users/zoe`
      const home = yield* page("/home", anchor(own))
      const field = (name: string, value: string) => ({ type: "PropertyValue", name, value })
      const zoe = yield* there("zoe", {
        attachment: [
          field("home", anchor(home)),
          field("elided", `<a href="${home}"><span class="invisible">http://</span><span>bank.example</span></a>`),
          field("words", `my ${anchor(home)}`),
          field("two", anchor(home) + anchor(home)),
          field("plain", home)
        ]
      })
      yield* found(cleo, "zoe")
      yield* looked
      assert.deepStrictEqual(fieldsOf(yield* found(cleo, "zoe")), ["home"])
      yield* deliverFrom(zoe, { type: "Update", object: zoe.id })
      yield* looked
      assert.deepStrictEqual(fieldsOf(yield* found(cleo, "zoe")), ["home"])
      assert.isUndefined(onlyLink("<a href=\"https://a.test/\">https://b.test/</a>"))
      const marked = "<a rel=me href=x><link rel='ME x' href=\"y\"><b rel=me href=z>"
      assert.deepStrictEqual(yield* relMe(marked), ["x", "y"])
    }))
})

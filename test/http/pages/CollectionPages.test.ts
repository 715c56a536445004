import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, newPerson } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { problems } from "./strictPage.ts"

const base = "/api/v1/collections"
const createCollection = (by: Person, fields: object) =>
  Effect.map(ask(by, "POST", base, fields), ({ body }) => body.collection)

layer(TestServer.layer(), { excludeTestServices: true })("the page of a collection", (it) => {
  it.effect("row 55 S-045: shows public content without suspended, pending or withdrawn accounts, otherwise nothing", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [owner, listed, banned, gone] = [
        yield* newPerson("keeper"),
        yield* newPerson("keptone"),
        yield* newPerson("bannedone"),
        yield* newPerson("goneone")
      ]
      const all = [listed, banned, gone]
      for (const one of all) {
        yield* ask(one, "PATCH", "/api/v1/accounts/update_credentials", { discoverable: true })
      }
      const page = Effect.fnUntraced(function*(id: string) {
        const response = yield* TestServer.use(({ fetch }) => fetch(`/collections/${id}`))
        const text = yield* Effect.promise(() => response.text())
        assert.deepStrictEqual(problems(text), [])
        return { status: response.status, text }
      })
      const shown = yield* createCollection(owner, {
        name: "Birds <b>",
        description: "a < b",
        tag_name: "birds",
        account_ids: all.map(({ accountId }) => String(accountId))
      })
      assert.strictEqual(shown.url.endsWith(`/collections/${shown.id}`), true)
      yield* sql`UPDATE accounts SET suspended_at = now() WHERE id = ${banned.accountId}`
      const left = shown.items.find((one: { account_id: string }) => one.account_id === String(gone.accountId))
      yield* ask(gone, "POST", `/api/v1/collections/${shown.id}/items/${left.id}/revoke`)
      const { status, text } = yield* page(shown.id)
      assert.strictEqual(status, 200)
      for (const part of ["Birds &lt;b&gt;", "a &lt; b", "#birds", "@keeper", "@keptone"]) assert.include(text, part)
      for (const part of ["bannedone", "goneone", "<details"]) assert.notInclude(text, part)

      // Other servers request the same path, and are redirected to the id that they know.
      const named = yield* TestServer.use(({ fetch }) =>
        fetch(`/collections/${shown.id}`, { headers: { accept: "application/activity+json" } })
      )
      const document: { readonly id: string; readonly url: string } = JSON.parse(
        yield* Effect.promise(() => named.text())
      )
      assert.deepStrictEqual([document.id, document.url], [shown.uri, shown.url])

      yield* ask(owner, "PATCH", `/api/v1/collections/${shown.id}`, { sensitive: true })
      assert.include((yield* page(shown.id)).text, "<details><summary>Sensitive content")
      const hidden = yield* createCollection(owner, { name: "Secret", discoverable: false })
      for (const id of [hidden.id, "4711", "9".repeat(19), "9".repeat(40), "x"]) {
        const reply = yield* page(id)
        assert.strictEqual(reply.status, 404, id)
        assert.notInclude(reply.text, "Secret")
      }
      yield* sql`UPDATE accounts SET suspended_at = now() WHERE id = ${owner.accountId}`
      assert.strictEqual((yield* page(shown.id)).status, 404)
    }))

  it.effect("a post shows the collections that it links to, by page or id, while the links and the collections exist", () =>
    Effect.gen(function*() {
      const [me, ada] = [yield* newPerson("linker"), yield* newPerson("linked")]
      yield* ask(ada, "PATCH", "/api/v1/accounts/update_credentials", { discoverable: true })
      const [open, hidden] = [
        yield* createCollection(me, { name: "open", account_ids: [String(ada.accountId)] }),
        yield* createCollection(me, { name: "hidden", discoverable: false })
      ]
      assert.strictEqual(hidden.url, null)
      const page = open.url ?? ""
      // An address without a dot in its host stays plain text.
      const linking = (...to: ReadonlyArray<string>) => ({
        status: to.map((address, n) => `[x${n}](${address})`).join(" "),
        content_type: "text/markdown"
      })
      const publishFields = (fields: Record<string, unknown>) =>
        Effect.map(ask(ada, "POST", "/api/v1/statuses", fields), ({ body }) => body)
      const names = (status: { readonly tagged_collections: ReadonlyArray<{ readonly id: string }> }) =>
        status.tagged_collections.map((one) => one.id)
      // Two addresses of one account count once; an unknown one does not count.
      const odd = [
        `${open.uri}9`,
        `${page}/x`,
        page.replace(/[0-9]+$/, "9".repeat(19)),
        page.replace("http", "https"),
        `${page}0`
      ]
      const post = yield* publishFields(linking(page, open.uri, hidden.uri))
      assert.deepStrictEqual(names(yield* publishFields(linking(...odd))), [])
      assert.deepStrictEqual(names(post), [open.id, hidden.id])
      assert.deepStrictEqual(post.tagged_collections[0], (yield* ask(ada, "GET", `${base}/${open.id}`)).body.collection)
      const [written, boost] = [
        yield* publishFields(linking(page)),
        yield* ask(me, "POST", `/api/v1/statuses/${post.id}/reblog`)
      ]
      assert.deepStrictEqual(names(written), [open.id])
      assert.deepStrictEqual([names(boost.body), names(boost.body.reblog)], [[], [open.id, hidden.id]])
      const quote = yield* publishFields({ status: "look", quoted_status_id: post.id })
      assert.deepStrictEqual([names(quote), names(quote.quote.quoted_status)], [[], [open.id, hidden.id]])
      assert.deepStrictEqual(names(yield* publishFields(linking(`${page}?x`, `https://x.example/collections/1`))), [])

      const edited = yield* ask(ada, "PUT", `/api/v1/statuses/${post.id}`, linking(hidden.uri))
      assert.deepStrictEqual(names(edited.body), [hidden.id])
      const found = () => Effect.map(ask(ada, "GET", `/api/v1/statuses/${post.id}`), ({ body }) => names(body))
      yield* ask(me, "PATCH", `${base}/${hidden.id}`, { name: "renamed" })
      const again = yield* ask(undefined, "GET", `/api/v1/statuses/${post.id}`)
      assert.strictEqual(again.body.tagged_collections[0].name, "renamed")
      yield* ask(me, "DELETE", `${base}/${hidden.id}`)
      assert.deepStrictEqual(yield* found(), [])
      yield* ask(me, "POST", `/api/v1/accounts/${ada.accountId}/block`)
      assert.deepStrictEqual(
        names((yield* ask(ada, "GET", `/api/v1/statuses/${written.id}`)).body),
        []
      )
    }))
})

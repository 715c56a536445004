import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { placeOf } from "../../../src/services/mastodon/tables/MediaCopy.ts"
import { json } from "../../support/Api.ts"
import { idOf, mediaOf, putFile, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"
import { TestServer } from "../../support/Server.ts"

layer(servers, { excludeTestServices: true })("parts of posts of a Mastodon server", (it) => {
  it.effect("F277: are copied once, with their ids; rejected rows have a reason; a delta follows the source", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { baseUrl, fetch } = yield* TestServer
      const from = yield* source("4.5")
      const { insert } = from
      const ada = yield* from.person(idOf(1), "ada")
      const bert = yield* from.person(idOf(2), "bert", { account: { idScheme: 1 } })
      const zoe = yield* from.stranger(idOf(3), "zoe")
      yield* from.token(ada, "read")
      const editedAt = new Date(Date.UTC(2024, 1))
      const old = { createdAt: new Date(Date.UTC(2024, 0)), updatedAt: new Date(Date.UTC(2024, 0)) }
      const status = (n: number, more: object) => ({
        id: idOf(n),
        accountId: ada.id,
        local: true,
        text: `post ${n}`,
        ...old,
        ...more
      })
      yield* insert(
        "statuses",
        status(10, { text: "read https://news.example/a?x=1#top", editedAt }),
        status(11, {
          accountId: zoe.id,
          local: false,
          uri: "https://far.example/posts/11",
          text: "<p>old, but quoted</p>"
        }),
        status(12, { text: "quotes zoe" }),
        status(13, {
          accountId: zoe.id,
          local: false,
          uri: "https://far.example/posts/13",
          text: "<p>quotes ada</p>",
          createdAt: new Date()
        }),
        status(14, {
          accountId: zoe.id,
          local: false,
          uri: "https://far.example/posts/14",
          text: "<p>old and unused</p>"
        }),
        status(15, { accountId: bert.id, text: "quoted by ada" }),
        status(16, { text: "quotes bert" }),
        status(17, { text: "quotes a deleted post" }),
        status(18, { text: "in a strange state" }),
        status(19, { text: "film https://video.example/v" })
      )
      const card = {
        title: "News <b>today</b>",
        description: "x".repeat(2_000),
        providerName: "News",
        width: 640,
        height: 480
      }
      yield* insert(
        "preview_cards",
        { id: 1n, url: "https://old.example/", title: "an earlier link" },
        { id: 2n, url: "https://news.example/a?x=1", ...card, publishedAt: editedAt, authorAccountId: zoe.id },
        { id: 3n, url: "javascript:alert(1)", title: "bad" },
        {
          id: 4n,
          url: "https://video.example/v",
          type: 2,
          title: "Film",
          html: "<iframe src=\"https://video.example/embed\" onload=\"x()\"></iframe><script>x</script>"
        }
      )
      yield* insert(
        "preview_cards_statuses",
        { previewCardId: 1n, statusId: idOf(10) },
        { previewCardId: 2n, statusId: idOf(10), url: "https://news.example/a?x=1#top" },
        { previewCardId: 3n, statusId: idOf(12) },
        { previewCardId: 2n, statusId: idOf(14) },
        { previewCardId: 4n, statusId: idOf(19) }
      )
      const quote = (n: number, of: number, by: bigint, more: object) => ({
        id: idOf(100 + n),
        accountId: n === 13 ? zoe.id : ada.id,
        statusId: idOf(n),
        quotedStatusId: idOf(of),
        quotedAccountId: by,
        state: 1,
        ...more
      })
      yield* insert(
        "quotes",
        quote(12, 11, zoe.id, { approvalUri: "https://far.example/stamps/1" }),
        quote(13, 10, ada.id, { activityUri: "https://far.example/requests/1" }),
        quote(16, 15, bert.id, {}),
        quote(17, 99, zoe.id, { state: 4, quotedStatusId: null }),
        quote(18, 11, zoe.id, { state: 9 })
      )
      const edit = { statusId: idOf(10), accountId: ada.id }
      yield* insert(
        "status_edits",
        {
          id: 7n,
          ...edit,
          text: "first @zoe@far.example",
          createdAt: old.createdAt,
          orderedMediaAttachmentIds: [idOf(98), idOf(20)],
          mediaDescriptions: ["gone", "a bird, at first"]
        },
        {
          id: 8n,
          ...edit,
          text: "read https://news.example/a?x=1#top",
          spoilerText: "news",
          createdAt: editedAt,
          pollOptions: ["A", "B"]
        },
        { id: 9n, statusId: idOf(14), accountId: zoe.id, text: "<p>of no post here</p>" }
      )
      yield* insert("media_attachments", {
        id: idOf(20),
        accountId: ada.id,
        statusId: idOf(10),
        type: 0,
        description: "a bird, now",
        fileFileName: "bird.png"
      })
      yield* putFile(from, placeOf("media_attachments/files", String(idOf(20)), "original", "bird.png"), "bird")
      yield* insert(
        "tombstones",
        { accountId: zoe.id, uri: "https://far.example/posts/gone", createdAt: new Date() },
        { accountId: zoe.id, uri: "https://far.example/posts/long-gone" },
        { accountId: 777n, uri: "https://far.example/posts/x", createdAt: new Date() }
      )
      const files = ["--media", mediaOf(from)]
      const copied = yield* transferred(from, "copy", ...files)
      yield* transferred(from, "copy", ...files)
      assert.match(copied, /^preview cards +2 copied, 1 rejected$/m)
      assert.deepStrictEqual(
        yield* rejected(from),
        [
          "deleted posts 3",
          `preview cards ${idOf(12)}`,
          `quotes ${idOf(118)}`
        ]
      )
      const me = { token: "token-of-ada" }
      const shown = (n: number) => json(me, `/api/v1/statuses/${idOf(n)}`)
      const news = yield* shown(10)
      assert.deepInclude(news.card, {
        url: "https://news.example/a?x=1#top",
        title: "News <b>today</b>",
        type: "link",
        width: 640,
        provider_name: "News"
      })
      assert.strictEqual(news.card.description.length <= 1_000, true)
      assert.deepInclude(news, { quotes_count: 1 })
      const film = yield* shown(19)
      assert.deepInclude(film.card, { type: "video" })
      assert.match(film.card.html, /^<iframe src="https:\/\/video.example\/embed"(?!.*onload).*<\/iframe>$/)
      assert.strictEqual((yield* shown(12)).card, null)

      assert.deepInclude((yield* shown(12)).quote, { state: "accepted" })
      assert.strictEqual((yield* shown(12)).quote.quoted_status.id, String(idOf(11)))
      assert.deepInclude((yield* shown(16)).quote, { state: "accepted" })
      assert.deepInclude((yield* shown(17)).quote, { state: "deleted" })
      assert.strictEqual((yield* shown(18)).quote, null)
      // Consents keep their ids, which other servers verify.
      const stamp = Effect.fnUntraced(function*(path: string) {
        const response = yield* fetch(path, { headers: { accept: "application/activity+json" } })
        return response.status === 200 ? JSON.parse(yield* Effect.promise(() => response.text())) : response.status
      })
      const given = `/users/ada/quote_authorizations/${idOf(113)}`
      assert.deepInclude(yield* stamp(given), {
        id: baseUrl + given,
        interactingObject: "https://far.example/posts/13",
        interactionTarget: `${baseUrl}/users/ada/statuses/${idOf(10)}`
      })
      // Another server may claim the id of a local consent as its own.
      yield* sql`UPDATE quotes SET authorization_uri = ${baseUrl + given} WHERE status_id = ${idOf(12)}`
      assert.deepInclude(yield* stamp(given), { interactingObject: "https://far.example/posts/13" })
      yield* sql`UPDATE quotes SET authorization_uri = 'https://far.example/stamps/1' WHERE status_id = ${idOf(12)}`
      const numbered = `/ap/users/${bert.id}/quote_authorizations/${idOf(116)}`
      assert.deepInclude(yield* stamp(numbered), { id: baseUrl + numbered })
      assert.strictEqual(yield* stamp(`/users/bert/quote_authorizations/${idOf(113)}`), 404)
      assert.deepInclude(yield* stamp(`/users/ada/statuses/${idOf(16)}`), { quoteAuthorization: baseUrl + numbered })
      assert.deepInclude(yield* stamp(`/users/ada/statuses/${idOf(12)}`), {
        quoteAuthorization: "https://far.example/stamps/1"
      })

      const [first, second, ...others] = yield* json(me, `/api/v1/statuses/${idOf(10)}/history`)
      assert.deepStrictEqual(others, [])
      assert.include(first.content, `href="https://far.example/@zoe"`)
      assert.deepStrictEqual(first.media_attachments.map((one: { readonly description: string }) => one.description), [
        "a bird, at first"
      ])
      assert.deepInclude(second, { spoiler_text: "news", created_at: editedAt.toISOString() })
      assert.deepStrictEqual(second.poll.options.map((one: { readonly title: string }) => one.title), ["A", "B"])

      assert.deepStrictEqual(yield* sql`SELECT uri FROM tombstones`, [{ uri: "https://far.example/posts/gone" }])
      yield* from.sql`UPDATE quotes SET state = 3, updated_at = ${new Date()} WHERE id = ${idOf(113)}`
      yield* transferred(from, "delta", ...files)
      assert.strictEqual(yield* stamp(given), 404, "the consent was revoked")
    }))
})

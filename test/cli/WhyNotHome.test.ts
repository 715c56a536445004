import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, json, newPerson } from "../support/Api.ts"
import { cli } from "../support/CommandLine.ts"
import { eventually } from "../support/Eventually.ts"
import { type Person, TestServer } from "../support/Server.ts"

const explain = (name: string, post: unknown) =>
  Effect.flatMap(TestServer, ({ variables }) => cli(["account", "why-not-home", name, String(post)], variables))

/** Returns the ids of the posts in a user's home. */
const homeOf = (person: Person) =>
  Effect.map(
    ask(person, "GET", "/api/v1/timelines/home?limit=40"),
    ({ body }) => (body as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
  )

layer(TestServer.layer(), { excludeTestServices: true })("account why-not-home", (it) => {
  it.effect("F265: explains each reason, and has none for a post that the home shows", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [reader, author, other] = [
        yield* newPerson("reader"),
        yield* newPerson("author"),
        yield* newPerson("other")
      ]
      const newPost = (by: Person, more: object) =>
        Effect.map(json(by, "/api/v1/statuses", { status: "words", ...more }), ({ id }) => String(id))
      const relate = (act: string, whom: Person, more: object = {}) =>
        json(reader, `/api/v1/accounts/${whom.accountId}/${act}`, more)

      /** Compares the explanation with the home: a reason is given exactly for posts that are not in it. */
      const expect = Effect.fnUntraced(function*(post: string, pattern: RegExp) {
        const { code, err, out } = yield* explain("@reader", post)
        assert.strictEqual(code, 0, err)
        assert.match(out, pattern)
        const isShown = out.startsWith("The post is in the home")
        assert.strictEqual((yield* homeOf(reader)).includes(post), isShown, out)
      })

      const before = yield* newPost(author, {})
      yield* expect(before, /^reader does not follow the author, nor a hashtag/)
      yield* relate("follow", author)
      yield* expect(before, /^The post is in the home of reader/)
      const own = yield* newPost(reader, {})
      yield* expect(own, /^The post is in the home/)
      const elsewhere = yield* newPost(other, {})
      yield* expect(yield* newPost(author, { in_reply_to_id: elsewhere }), /reply to an account that reader does not/)
      yield* expect(yield* newPost(author, { visibility: "direct" }), /may not see the post/)
      const boost = yield* json(author, `/api/v1/statuses/${elsewhere}/reblog`, {})
      yield* expect(String(boost.id), /^The post is in the home/)
      yield* relate("follow", author, { reblogs: false })
      yield* expect(String(boost.id), /has hidden boosts/)
      yield* relate("follow", author, { reblogs: true, languages: ["fr"] })
      yield* expect(yield* newPost(author, { language: "de" }), /other languages only/)
      yield* relate("follow", author, { languages: [] })
      const mentioning = yield* newPost(author, { status: "hello @other" })
      yield* expect(mentioning, /^The post is in the home/)
      yield* relate("mute", other)
      yield* expect(mentioning, /mutes an account that the post mentions/)
      yield* expect(String(boost.id), /author of the boosted post/)
      yield* relate("unmute", other)
      const list = yield* json(reader, "/api/v1/lists", { title: "apart", exclusive: true })
      yield* json(reader, `/api/v1/lists/${list.id}/accounts`, { account_ids: [String(author.accountId)] })
      yield* expect(before, /^An exclusive list of reader/)
      yield* ask(reader, "DELETE", `/api/v1/lists/${list.id}`)
      yield* expect(before, /^The post is in the home/)
      yield* relate("mute", author)
      yield* expect(before, /blocks or mutes the author/)
      yield* relate("unmute", author)

      const tagged = yield* newPost(other, { status: "#ducks" })
      yield* expect(tagged, /does not follow/)
      yield* json(reader, "/api/v1/tags/ducks/follow", {})
      yield* expect(tagged, /^The post is in the home/)

      const quiet = yield* newPost(other, { status: "#ducks", visibility: "unlisted" })
      yield* expect(quiet, /^reader does not follow the author, nor .*public posts only/)
      const reply = yield* newPost(other, { status: "#ducks", in_reply_to_id: elsewhere })
      yield* expect(reply, /^The post is in the home/)
      yield* relate("mute", other)
      yield* expect(reply, /^reader blocks or mutes the author, or blocks their server\.\n$/)
      yield* relate("unmute", other)
      const lakes = yield* json(reader, "/api/v1/lists", { title: "lakes", exclusive: true })
      yield* sql`INSERT INTO list_tags (id, list_id, tag_id) SELECT 1, ${lakes.id}::bigint, id FROM tags WHERE name = 'ducks'`
      yield* expect(reply, /^An exclusive list of reader .*\n$/)
      yield* ask(reader, "DELETE", `/api/v1/lists/${lakes.id}`)
      const old = yield* newPost(reader, {})
      yield* sql`UPDATE statuses SET imported = true WHERE id = ${old}::bigint`
      const { code, out } = yield* explain("reader", old)
      assert.deepStrictEqual([code, out], [
        0,
        "The post was imported from an archive; imported posts are in no home.\n"
      ])

      const { baseUrl } = yield* TestServer
      assert.match((yield* explain("reader", `${baseUrl}/@author/${before}`)).out, /^The post is in the home/)
      yield* ask(author, "DELETE", `/api/v1/statuses/${before}`)
      yield* eventually(explain("reader", before), ({ out }) => out === "The post was deleted.\n")
      yield* sql`UPDATE users SET last_seen_at = ${new Date(0)} WHERE account_id = ${reader.accountId}`
      assert.match((yield* explain("reader", own)).out, /away for more than a week/)
      for (const [name, post] of [["nobody", own], ["reader", "99"], ["reader", "words"]] as const) {
        const { code, err } = yield* explain(name, post)
        assert.strictEqual(code, 1)
        assert.match(err, /There is no (account|post)/)
      }
    }))
})

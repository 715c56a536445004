import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { call, newPerson, publish } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const statuses = "/api/v1/statuses"
const source = (by: Person, id: string) =>
  Effect.map(call("GET", `${statuses}/${id}/source`, by.token), ({ body }) => [body.text, body.content_type])

const markdown = { content_type: "text/markdown" }

layer(TestServer.layer(), { excludeTestServices: true })("content types of posts", (it) => {
  it.effect("D-008: are listed in /api/v2/instance; plain text is unchanged", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna")
      const { body } = yield* call("GET", "/api/v2/instance", undefined)
      assert.deepStrictEqual(body.configuration.statuses.supported_mime_types, ["text/plain", "text/markdown"])
      for (const more of [{}, { content_type: "" }, { content_type: null }, { content_type: "text/plain" }]) {
        const post = yield* publish(anna, "**plain**", { ...more })
        assert.strictEqual(post.content, "<p>**plain**</p>")
        assert.notProperty(post, "content_type")
        assert.deepStrictEqual(yield* source(anna, post.id), ["**plain**", undefined])
      }
      for (const content_type of ["text/html", "text/bbcode", "text/markdown ", "x".repeat(5_000), 7]) {
        const refused = yield* call("POST", statuses, anna.token, { status: "x", content_type })
        assert.deepStrictEqual(
          [refused.status, refused.body.error],
          [422, "Validation failed: Content type is not included in the list"]
        )
      }
    }))

  it.effect("Markdown: mentions, hashtags and links work, code stays unchanged, edits keep it, a redraft has it", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const [ben, cora, dora] = [yield* newPerson("ben"), yield* newPerson("cora"), yield* newPerson("dora")]
      const text = "**Hello** @cora #Cats\n\n`@dora #dogs`\n\n[a page](https://page.example/x)"
      const post = yield* publish(ben, text, { ...markdown })
      assert.match(post.content, /^<p><strong>Hello<\/strong> <span class="h-card".*<code>@dora #dogs<\/code>/)
      assert.deepStrictEqual(post.mentions.map(({ acct }: { acct: string }) => acct), ["cora"])
      assert.deepStrictEqual(post.tags.map(({ name }: { name: string }) => name), ["cats"])
      const told = (of: Person) => Effect.map(call("GET", "/api/v1/notifications", of.token), ({ body }) => body.length)
      assert.strictEqual(yield* told(dora), 0)
      assert.isTrue((yield* told(cora)) <= 1)

      const note = yield* Effect.promise(async () => {
        const response = await fetch(`${baseUrl}/users/ben/statuses/${post.id}`, {
          headers: { accept: "application/activity+json" }
        })
        return await response.json() as Record<string, unknown>
      })
      assert.deepStrictEqual(note["source"], { content: text, mediaType: "text/markdown" })
      assert.strictEqual(note["content"], post.content)

      // An edit without a content type stays Markdown; one with another type reparses the same text.
      const edited = yield* call("PUT", `${statuses}/${post.id}`, ben.token, { status: "*once* more" })
      assert.strictEqual(edited.body.content, "<p><em>once</em> more</p>")
      const plain = yield* call("PUT", `${statuses}/${post.id}`, ben.token, {
        status: "*once* more",
        content_type: "text/plain"
      })
      assert.strictEqual(plain.body.content, "<p>*once* more</p>")
      assert.deepStrictEqual(yield* source(ben, post.id), ["*once* more", undefined])
      const { body: history } = yield* call("GET", `${statuses}/${post.id}/history`, ben.token)
      assert.deepStrictEqual(history.map(({ content }: { content: string }) => content).slice(1), [
        "<p><em>once</em> more</p>",
        "<p>*once* more</p>"
      ])
      const again = yield* publish(ben, "*again*", { ...markdown })
      const { body: deleted } = yield* call("DELETE", `${statuses}/${again.id}`, ben.token)
      assert.deepStrictEqual([deleted.text, deleted.content_type], ["*again*", "text/markdown"])
    }))

  it.effect("a scheduled post keeps it; the limits are those of plain text", () =>
    Effect.gen(function*() {
      const emil = yield* newPerson("emil")
      const scheduled = yield* publish(emil, "*later*", { ...markdown, scheduled_at: "2035-01-01T00:00:00Z" })
      assert.strictEqual(scheduled.params.content_type, "text/markdown")
      const plain = yield* publish(emil, "later", { scheduled_at: "2035-01-01T00:00:00Z" })
      assert.notProperty(plain.params, "content_type")
      const long = (status: string) =>
        Effect.map(call("POST", statuses, emil.token, { status, ...markdown }), (reply) => reply.status)
      assert.strictEqual(yield* long("*".repeat(501)), 422)
      assert.strictEqual(yield* long("*".repeat(500)), 200)
      assert.strictEqual(yield* long("> ".repeat(250)), 200)
      assert.strictEqual(yield* long("   \n "), 422)
    }))
})

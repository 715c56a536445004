import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { renderer } from "../../../src/services/mastodon/tables/TextRenderer.ts"
import { Drafts } from "../../../src/services/statuses/Drafts.ts"
import { person } from "../../support/People.ts"
import { configuration } from "../../support/Reads.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const services = Drafts.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(TestDatabase.layer, Layer.succeed(ServerConfig, configuration)))
)

layer(services, { excludeTestServices: true })("texts of copied posts", (it) => {
  it.effect("F397: link the accounts that they mention themselves, whatever other posts of the batch mention", () =>
    Effect.gen(function*() {
      yield* person("zoe")
      const render = yield* renderer
      // Mentions after the fiftieth stay plain text.
      const many = Array.from({ length: 50 }, (_, n) => `@nobody${n}`).join(" ")
      const posts = yield* render([`${many} @zoe`, "hi @Zoe"].map((text) => ({ text, ["is_local"]: "true" })))
      assert.deepStrictEqual(posts.map(({ html }) => html?.includes("u-url mention")), [false, true])
    }))

  it.effect("F467: posts of a fork are rendered by their content type, and their HTML is sanitised", () =>
    Effect.gen(function*() {
      const render = yield* renderer
      const posts = yield* render([
        ["**loud** text", "text/markdown"],
        ["<b>bold</b><script>alert(1)</script>", "text/html"],
        ["**<b>", "text/plain"],
        ["**<b>", null]
      ].map(([text = null, type = null]) => ({ text, ["content_type"]: type, ["is_local"]: "true" })))
      assert.deepStrictEqual(posts.map(({ html }) => html), [
        "<p><strong>loud</strong> text</p>",
        "<b>bold</b>",
        "<p>**&lt;b&gt;</p>",
        "<p>**&lt;b&gt;</p>"
      ])
    }))
})

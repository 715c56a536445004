import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { Status } from "../../../src/http/wire/Status.ts"
import { StatusId } from "../../../src/services/database/Ids.ts"
import { Filters } from "../../../src/services/filters/Filters.ts"
import { followers, person } from "../../support/People.ts"
import { edit, post } from "../../support/Posts.ts"
import { connect, layerStreams, listener, mark, tokenOf } from "./Streams.ts"

const decodeStatus = Schema.decodeUnknownEffect(Schema.fromJsonString(Status))
const streams = Filters.layer.pipe(Layer.provideMerge(layerStreams))

layer(streams, { excludeTestServices: true })("Streams and filters", (it) => {
  it.effect("S-261: a hidden status is not sent where its filter applies, and a status with a warning names the filter", () =>
    Effect.gen(function*() {
      const [actors, filters] = [yield* AccountActors, yield* Filters]
      const author = yield* person("filtered1")
      const reader = yield* listener("filters1", "?stream=user")
      const { secret } = yield* tokenOf(reader.account)
      const open = yield* connect({ query: "?stream=public", protocol: secret })
      const bell = yield* connect({ query: "?stream=user:notification", protocol: secret })
      const other = yield* listener("filters2", "?stream=user")
      yield* followers(author, [reader.account, other.account])
      const created = yield* filters.create(reader.account, {
        title: "hidden at home",
        contexts: ["home"],
        action: "hide",
        keywords: [{ keyword: "spoiler" }]
      })
      yield* filters.create(reader.account, {
        title: "warned of",
        contexts: ["home", "public"],
        action: "warn",
        keywords: [{ keyword: "cats" }]
      })
      assert.deepStrictEqual([(yield* reader.next).event, (yield* reader.next).event], [
        "filters_changed",
        "filters_changed"
      ])

      const tell = (text: string) => actors.tell(author, { _tag: "Publish", post: post(text) })
      const { id } = yield* tell("a spoiler about cats")
      yield* tell("about CATS")
      const shown = yield* decodeStatus((yield* reader.next).payload)
      assert.include(shown.content, "about CATS")
      assert.deepStrictEqual(shown.filtered?.map(({ keyword_matches: words }) => words), [["cats"]])
      const [inPublic, further] = [
        yield* decodeStatus((yield* open.next).payload),
        yield* decodeStatus((yield* open.next).payload)
      ]
      assert.strictEqual(inPublic.id, id)
      assert.deepStrictEqual(inPublic.filtered?.map(({ filter }) => filter.title), ["warned of"])
      assert.strictEqual(further.id, shown.id)
      for (const expected of [id, shown.id]) {
        const theirs = yield* decodeStatus((yield* other.next).payload)
        assert.deepStrictEqual([theirs.id, theirs.filtered], [expected, []])
      }

      // Edits are filtered by their new text; notifications by filters for notifications.
      yield* actors.tell(author, edit(StatusId.make(BigInt(id)), "nothing to hide"))
      assert.strictEqual((yield* reader.next).event, "status.update")
      yield* filters.update(
        reader.account,
        (all) => Effect.succeed([all.find((one) => one.id === created.id)!, { contexts: ["notifications"] }])
      )
      assert.strictEqual((yield* reader.next).event, "filters_changed")
      yield* tell("@filters1 a spoiler")
      yield* tell("@filters1 hello")
      const heard = yield* bell.next
      assert.strictEqual(heard.event, "notification")
      assert.include(heard.payload, "hello")
      yield* mark(reader.account)
      const events: Array<string> = []
      for (let event = (yield* reader.next).event; event !== "filters_changed"; event = (yield* reader.next).event) {
        events.push(event!)
      }
      assert.deepStrictEqual(events.toSorted(), ["notification", "update", "update"])
      assert.deepStrictEqual(yield* bell.waiting, [])
    }).pipe(Effect.scoped))

  it.effect("S-262: a batch of keywords sends one filter change, and a refused one sends none", () =>
    Effect.gen(function*() {
      const filters = yield* Filters
      const reader = yield* listener("filters3", "?stream=user")
      const { id } = yield* filters.create(reader.account, {
        title: "many",
        contexts: ["home"],
        keywords: [{ keyword: "one" }, { keyword: "two" }, { keyword: "three" }]
      })
      yield* filters.update(
        reader.account,
        ([filter]) =>
          Effect.succeed([filter!, {
            keywords: filter!.keywords.map(({ id, keyword }) => ({ id, keyword: `${keyword}s` }))
          }])
      )
      yield* Effect.flip(filters.update(reader.account, ([filter]) => Effect.succeed([filter!, { title: "" }])))
      yield* Effect.flip(filters.remove(reader.account, id + 1n))
      yield* filters.remove(reader.account, id)
      for (let change = 0; change < 3; change++) {
        assert.deepStrictEqual(yield* reader.next, { stream: ["user"], event: "filters_changed" })
      }
      const other = yield* listener("filters4", "?stream=user")
      yield* mark(other.account)
      yield* other.next
      assert.deepStrictEqual(yield* reader.waiting, [])
    }).pipe(Effect.scoped))
})

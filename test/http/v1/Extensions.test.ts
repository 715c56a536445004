import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Instance } from "../../../src/http/wire/Instance.ts"
import { Markers } from "../../../src/http/wire/Marker.ts"
import { settled } from "../../support/Actors.ts"
import { call } from "../../support/Api.ts"
import { filter, follow, newPerson, post, shown } from "../../support/Filtering.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { watching } from "../../support/WatchedStream.ts"

const strict = { onExcessProperty: "error" } as const
const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => Schema.decodeUnknownEffect(schema, strict)

const home = "/api/v1/timelines/home"
const idsOf = (viewer: Person, list: string) =>
  Effect.map(shown(viewer, list), (statuses) => statuses.map(({ id }) => id))
const boost = (by: Person, id: string) =>
  Effect.map(call("POST", `/api/v1/statuses/${id}/reblog`, by.token), ({ body }): string => body.id).pipe(
    Effect.tap(() => settled)
  )
/** Follows one of a list's links to the end; returns all pages, and the links. */
const walk = Effect.fnUntraced(function*(viewer: Person, start: string, rel: "next" | "prev") {
  const pages: Array<ReadonlyArray<string>> = []
  const followed: Array<string> = []
  let at: string | undefined = start
  while (at !== undefined && pages.length < 60) {
    const page: { readonly body: ReadonlyArray<{ readonly id: string }>; readonly headers: Headers } = yield* call(
      "GET",
      at,
      viewer.token
    )
    pages.push(page.body.map(({ id }) => id))
    at = new RegExp(`<[^>]*?(/api[^>]*)>; rel="${rel}"`).exec(page.headers.get("link") ?? "")?.[1]
    if (at !== undefined) followed.push(at)
  }
  return { pages, followed }
})
layer(TestServer.layer(), { excludeTestServices: true })("extensions for apps", (it) => {
  it.effect("F98: the instance document announces each extension", () =>
    Effect.gen(function*() {
      const { body } = yield* call("GET", "/api/v2/instance", undefined)
      yield* decode(Instance)(body)
      assert.deepStrictEqual(body.configuration.extensions, {
        home_parameters: ["exclude_replies", "exclude_reblogs"],
        stream_events: ["marker"],
        notification_policies: ["for_new_conversations"],
        mute_parameters: ["replies"]
      })
    }))

  it.effect("F98, D-019: home omits replies to others and boosts if an app asks for that", () =>
    Effect.gen(function*() {
      const [ada, ben, cy] = [yield* newPerson, yield* newPerson, yield* newPerson]
      yield* follow(ada, ben)
      yield* follow(ada, cy)
      const own = yield* post(ada, "mine")
      const plain = yield* post(ben, "plain")
      const other = yield* post(cy, "another")
      const thread = yield* post(ben, "more of mine", { in_reply_to_id: plain })
      const toOther = yield* post(ben, "to cy", { in_reply_to_id: other })
      const toReader = yield* post(ben, "to ada", { in_reply_to_id: own })
      const ownReply = yield* post(ada, "ada to cy", { in_reply_to_id: other })
      const stranger = yield* newPerson
      const boosted = yield* boost(ben, yield* post(stranger, "boosted"))
      const all = [boosted, ownReply, toReader, toOther, thread, other, plain, own]
      const without = (...left: ReadonlyArray<string>) => all.filter((id) => !left.includes(id))
      assert.deepStrictEqual(yield* idsOf(ada, home), all)
      assert.deepStrictEqual(yield* idsOf(ada, `${home}?exclude_replies=false&exclude_reblogs=0`), all)
      assert.deepStrictEqual(yield* idsOf(ada, `${home}?exclude_reblogs=true`), without(boosted))
      assert.deepStrictEqual(yield* idsOf(ada, `${home}?exclude_replies=1`), without(ownReply, toOther))
      const both = `${home}?exclude_replies=true&exclude_reblogs=true`
      assert.deepStrictEqual(yield* idsOf(ada, both), without(boosted, ownReply, toOther))
      // Filters still hide posts.
      yield* filter(ada, { filter_action: "hide", keywords_attributes: [{ keyword: "another" }] })
      assert.deepStrictEqual(yield* idsOf(ada, both), without(boosted, ownReply, toOther, other))
      assert.deepStrictEqual(yield* idsOf(ada, home), without(other))
    }))

  it.effect("F98: pages of a filtered home are full, without gaps or duplicates in either direction", () =>
    Effect.gen(function*() {
      const [ada, ben, cy, stranger] = [yield* newPerson, yield* newPerson, yield* newPerson, yield* newPerson]
      yield* follow(ada, ben)
      yield* follow(ada, cy)
      const other = yield* post(cy, "the one that is replied to")
      const visible = [other]
      // Runs of 1 to 9 hidden posts, longer than a page of 4.
      for (let at = 0, run = 0; at < 60; at++) {
        if (run === 0) {
          visible.unshift(yield* post(ben, `kept ${at}`))
          run = 1 + (at * 7) % 9
        } else {
          run--
          if (at % 2 === 0) yield* post(ben, `to cy ${at}`, { in_reply_to_id: other })
          else yield* boost(ben, yield* post(stranger, `boosted ${at}`))
        }
      }
      const asked = "exclude_replies=true&exclude_reblogs=true"
      for (const limit of [1, 4, 7, 40]) {
        const down = yield* walk(ada, `${home}?limit=${limit}&${asked}`, "next")
        assert.deepStrictEqual(down.pages.flat(), visible, `down by ${limit}`)
        assert.isTrue(down.followed.every((link) => link.includes("exclude_replies=true&exclude_reblogs=true")))
        const full = down.pages.filter(({ length }) => length > 0)
        assert.isTrue(full.slice(0, -1).every(({ length }) => length === limit), `full pages of ${limit}`)
        const up = yield* walk(ada, `${home}?limit=${limit}&${asked}&min_id=1`, "prev")
        assert.deepStrictEqual(up.pages.toReversed().flat(), visible, `up by ${limit}`)
      }
    }))

  it.effect("F98, D-020: saved markers are sent to the streams that ask for them", () =>
    Effect.gen(function*() {
      const [ada, ben] = [yield* newPerson, yield* newPerson]
      const [first, second] = [yield* post(ada, "one"), yield* post(ada, "two")]
      const [knowing, plain, others] = [
        yield* watching(ada, "&supported_events[]=marker"),
        yield* watching(ada),
        yield* watching(ben, "&supported_events[]=marker")
      ]
      const save = (lastReadId: string) =>
        call("POST", "/api/v1/markers", ada.token, { home: { last_read_id: lastReadId } })
      yield* save(first)
      yield* call("POST", "/api/v1/markers", ada.token, { notifications: { last_read_id: "7" } })
      yield* save(second)
      const read = (yield* call("GET", "/api/v1/markers?timeline[]=home&timeline[]=notifications", ada.token)).body
      const told: Array<unknown> = []
      for (let at = 0; at < 3; at++) told.push(JSON.parse((yield* knowing.next(""))[1]))
      yield* Effect.forEach(told, (one) => decode(Markers)(one))
      assert.deepStrictEqual(told.at(-1), read)
      assert.strictEqual(read.home.last_read_id, second)
      // Other users get no event: their next event is a later one.
      yield* call("POST", "/api/v1/markers", ada.token, {})
      const [before, foreign] = [yield* post(ada, "three"), yield* post(ben, "four")]
      const next = Effect.map(plain.next(""), ([event, payload]) => [event, JSON.parse(payload).id])
      assert.deepStrictEqual(yield* next, ["update", before])
      const [event, payload] = yield* others.next("")
      assert.deepStrictEqual([event, JSON.parse(payload).id], ["update", foreign])
      assert.strictEqual((yield* knowing.next(""))[0], "update")
    }))
})
